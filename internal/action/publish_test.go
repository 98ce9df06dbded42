package action

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/reference"
	"github.com/org/mcpeval-guidance/internal/render"
	"github.com/org/mcpeval-guidance/internal/result"
)

// missing is a complete result in which profile none lacks tools: so many are
// named in its instructions, so many are required.
func missing(candidates, defects int) result.Result {
	var tools, required []name.Name
	for i := range candidates {
		tools = append(tools, name.Name(fmt.Sprintf("tool-%04d", i)))
	}
	for i := range defects {
		required = append(required, name.Name(fmt.Sprintf("required-%04d", i)))
	}
	return lacking(result.Info{Version: "1.0.0", Server: "label", SettleMS: 1500, Required: required}, tools)
}

// lacking is the result of a server whose instructions name the tools, and that
// lists these and the required ones to profile all alone.
func lacking(info result.Info, tools []name.Name) result.Result {
	var text strings.Builder
	for _, tool := range tools {
		fmt.Fprintf(&text, "`%s` ", tool)
	}
	read := reference.NewExtractor(reference.Want{})
	all := slices.Concat(info.Required, tools)
	slices.Sort(all)
	return result.New(info, []observe.Observation{
		{Session: observe.Session{Protocol: protocol.Default, Profile: profile.None}, Tools: []name.Name{}, HasInstructions: true,
			Texts: &reference.Texts{Instructions: read.Text(text.String())}},
		{Session: observe.Session{Protocol: protocol.Default, Profile: profile.All}, Tools: slices.Compact(all)},
	})
}

// incomplete is a result in which every session has that diagnosis.
func incomplete(d diagnosis.Diagnosis) result.Result {
	return result.New(result.Info{Server: "label"}, []observe.Observation{
		{Session: observe.Session{Protocol: protocol.Default, Profile: profile.None}, Diagnosis: &d},
	})
}

// TestNeverMoreThanTen: GitHub drops the eleventh annotation of a kind in a
// step, errors of our own included.
func TestNeverMoreThanTen(t *testing.T) {
	t.Parallel()
	for _, groups := range []int{0, 1, 8, 9, 10, 11, 3000} {
		for _, failures := range [][2]int{{0, 0}, {1, 0}, {1, 2}, {0, 2}} {
			r := missing(groups, groups)
			for i := range groups {
				r.Acknowledged = append(r.Acknowledged, name.Name(fmt.Sprintf("stale-%04d", i)))
			}
			a, out := newAction(t, nil)
			for range failures[0] {
				a.Fail("before", "Before.")
			}
			a.Publish(render.Annotate(r, nil))
			for range failures[1] {
				a.Fail("after", "After.")
			}
			a.Notice("after", "After.") // the report's owner, said last
			commands, plain := readLog(t, out.String())
			kinds := map[string][]command{}
			order := ""
			for _, c := range commands {
				kinds[c.name] = append(kinds[c.name], c)
				if c.fields["title"] != "after" && !strings.HasSuffix(order, c.name+" ") {
					order += c.name + " "
				}
			}
			if groups > 0 && order != "error warning notice " {
				t.Errorf("%d groups: order %s", groups, order)
			}
			for kind, before := range map[string]int{"error": failures[0], "warning": 0, "notice": 0} {
				list := kinds[kind]
				if len(list) > 10 {
					t.Errorf("%d groups, failures %v: %d of kind %s", groups, failures, len(list), kind)
				}
				spelt := min(groups, 9-before)
				own := list[before:]
				if len(own) < spelt {
					t.Fatalf("%d groups, failures %v: only %d of kind %s", groups, failures, len(own), kind)
				}
				for _, c := range own[:spelt] {
					if c.fields["title"] == "" || !strings.Contains(c.message, "-0") {
						t.Errorf("%d groups: %+v names no tool", groups, c)
					}
				}
				if groups > spelt {
					if want := fmt.Sprintf("%d more of this kind: see the job summary.", groups-spelt); own[spelt].message != want || own[spelt].fields["file"] != "" {
						t.Errorf("%d groups: the last is %+v, want %s", groups, own[spelt], want)
					}
				}
			}
			if !strings.Contains(out.String(), "After.") {
				t.Errorf("%d groups: the last notice is lost", groups)
			}
			said := strings.Count(strings.Join(plain, "\n"), "error: After.")
			for _, c := range kinds["error"] {
				said += strings.Count(c.message, "After.")
			}
			if said != failures[1] {
				t.Errorf("%d groups, failures %v: %d failures said", groups, failures, said)
			}
		}
	}
}

// TestEscapedPlaces: file names are the user's, but they come from a pull
// request.
func TestEscapedPlaces(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"plain.md", "a,b.md", "a:b.md", "a%2Cb.md", "a\nb.md", "a\r\n::error::x", "::error::x", "a=b,line=7", "ünïcode.md", "a::b", "%0A::error::x", "with blank.md",
	} {
		a, out := newAction(t, nil)
		a.Publish(render.Annotations{Warnings: []render.Annotation{{Title: "t", Message: "m", At: render.Position{File: file, Line: 12}}}})
		commands, plain := readLog(t, out.String())
		want := []command{{"warning", map[string]string{"file": file, "line": "12", "title": "t"}, "m"}}
		if diff := cmp.Diff(want, commands, cmp.AllowUnexported(command{})); diff != "" || len(plain) > 0 {
			t.Errorf("%q:\n%s%q", file, diff, plain)
		}
	}
	// The old form of commands knows no escape.
	a, out := newAction(t, nil)
	a.Publish(render.Annotations{Warnings: []render.Annotation{{Title: "t", Message: "m", At: render.Position{File: "##[error]x.md", Line: 12}}}})
	if commands, _ := readLog(t, out.String()); len(commands) != 1 || commands[0].fields["file"] != "" {
		t.Errorf("%+v", commands)
	}
}

// TestNamesAreNoCommands: valid names look like commands (case 20).
func TestNamesAreNoCommands(t *testing.T) {
	t.Parallel()
	names := []name.Name{"::error::x", "::set-output", "::stop-commands::y", "::add-mask::t", "::", ":", "set-output", "::endgroup::"}
	r := lacking(result.Info{Server: names[0], Required: names}, names)
	a, out := newAction(t, nil)
	a.LogText(render.Text(r, false))
	for _, remark := range render.Remarks(r) {
		a.Logf("mcpeval: %s", remark)
	}
	a.Publish(render.Annotate(r, nil))
	r.Acknowledged = []name.Name{"::stale::"}
	a.Publish(render.Annotations{Notices: render.Annotate(r, nil).Notices})
	if commands, plain := readLog(t, out.String()); len(commands) != 8+8+1 || len(plain) < 70 {
		t.Errorf("%d commands, %d lines", len(commands), len(plain))
	}
	a.Logf("%s", "x ##[error]y")
	readLog(t, out.String())
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	complete, failed := missing(3, 0), missing(3, 2)
	broken := incomplete(diagnosis.Diagnosis{Code: diagnosis.Timeout, Stage: diagnosis.Settle})
	for _, row := range []struct {
		name    string
		outcome Outcome
		want    []string // in action.yml's order
	}{
		{"complete", Outcome{&complete, "out/r.json", "", 0}, []string{"true", "true", "0", "3", "0", "out/r.json", ""}},
		{"defects", Outcome{&failed, "r.json", "", 1}, []string{"false", "true", "1", "3", "2", "r.json", ""}},
		{"incomplete", Outcome{&broken, "r.json", "", 3}, []string{"null", "false", "3", "0", "0", "r.json", ""}},
		{"not written", Outcome{&complete, "", "", 3}, []string{"true", "true", "3", "3", "0", "", ""}},
		{"SARIF", Outcome{&complete, "r.json", "r.sarif", 0}, []string{"true", "true", "0", "3", "0", "r.json", "r.sarif"}},
		{"usage", Outcome{nil, "", "", 2}, []string{"null", "false", "2", "0", "0", "", ""}},
		{"interrupted", Outcome{nil, "", "", 143}, []string{"null", "false", "143", "0", "0", "", ""}},
		{"heredoc", Outcome{nil, "_GitHubActionsFileCommandDelimeter_", "", 0}, []string{"null", "false", "0", "0", "0", "_GitHubActionsFileCommandDelimeter_", ""}},
		{"odd", Outcome{nil, "a<<b=c, 'd' \"e\"", "", 0}, []string{"null", "false", "0", "0", "0", "a<<b=c, 'd' \"e\"", ""}},
	} {
		file := filepath.Join(t.TempDir(), "output")
		if err := os.WriteFile(file, []byte("earlier=1\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		a, out := newAction(t, map[string]string{"GITHUB_OUTPUT": file})
		if err := a.SetOutputs(row.outcome); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		text, _ := os.ReadFile(file)
		got, err := readOutputs(string(text))
		want := []pair{{"earlier", "1"}}
		for i, name := range []string{"passed", "complete", "exit-code", "candidates", "defects", "report", "sarif"} {
			want = append(want, pair{name, row.want[i]})
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(pair{})); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", row.name, err, diff)
		}
		if out.Len() > 0 {
			t.Errorf("%s: wrote to the log: %q", row.name, out)
		}
	}
}

// TestCommandFileThatIsNone: neither a panic nor a write to what a server put
// in its place.
func TestCommandFileThatIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "elsewhere", "")
	if err := os.Symlink("elsewhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		path string
		fine bool
	}{
		{"", true}, // not in a step at all
		{filepath.Join(dir, "none"), false},
		{filepath.Join(dir, "no", "folder"), false},
		{dir, false},
		{filepath.Join(dir, "link"), false},
		{"/proc/version", false}, // a file that not even root can write
		{filepath.Join(dir, "elsewhere"), true},
	} {
		for variable, write := range map[string]func(*Action) error{
			"GITHUB_OUTPUT": func(a *Action) error { return a.SetOutputs(Outcome{}) },
			"GITHUB_STEP_SUMMARY": func(a *Action) error {
				o := Outcome{}
				if a.summarize("text", &o); o.ExitStatus == 0 {
					return nil
				}
				return errors.New("GITHUB_STEP_SUMMARY cannot be written")
			},
		} {
			a, _ := newAction(t, map[string]string{variable: row.path})
			err := write(a)
			if (err == nil) != row.fine {
				t.Errorf("%s=%s: %v", variable, row.path, err)
			}
			if err != nil && (!strings.Contains(err.Error(), variable) || row.path != "" && strings.Contains(err.Error(), row.path)) {
				t.Errorf("%s: the error is %v", variable, err)
			}
			if text, _ := os.ReadFile(filepath.Join(dir, "elsewhere")); len(text) > 0 && row.path != filepath.Join(dir, "elsewhere") {
				t.Errorf("%s=%s: written through a link: %q", variable, row.path, text)
			}
		}
		os.Truncate(filepath.Join(dir, "elsewhere"), 0)
	}
	if _, err := os.Lstat(filepath.Join(dir, "none")); err == nil {
		t.Error("a command file was made")
	}
}

// TestSummaryOfUsage: the problem stands in the summary as it is.
func TestSummaryOfUsage(t *testing.T) {
	t.Parallel()
	got := usageSummary("Invalid input", "Invalid input x: must be one of a_b, <c>, *d*, [e](f), `g` | #h \\")
	want := "## ❌ MCP guidance: invalid input\n\nInvalid input x: must be one of a\\_b, \\<c\\>, \\*d\\*, \\[e\\](f), \\`g\\` \\| \\#h \\\\.\n\nNothing was started or contacted.\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestExitWords(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for status := range 4 {
		seen[exitWordsOf(status)]++
	}
	seen[exitWordsOf(143)]++
	if len(seen) != 5 || exitWordsOf(130) != exitWordsOf(143) {
		t.Errorf("%v", seen)
	}
}

// brokenPipe is a log that nobody reads.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// TestLogLost: a log that cannot be written must not take the outputs with it.
func TestLogLost(t *testing.T) {
	t.Parallel()
	a := New(brokenPipe{})
	if a.log.lost {
		t.Error("lost before anything was written")
	}
	a.Group("g")()
	a.Fail("t", "m")
	a.LogText([]byte("a\nb\n"))
	a.Publish(render.Annotate(missing(1, 1), nil))
	if !a.log.lost {
		t.Error("not known to be lost")
	}
}
