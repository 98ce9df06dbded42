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
	"github.com/org/mcpeval-guidance/internal/locate"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/report"
)

// missing is a complete report in which profile none lacks tools: so many are
// candidates, so many are required.
func missing(candidates, defects int) report.Report {
	var tools, required []string
	for i := range candidates {
		tools = append(tools, fmt.Sprintf("tool-%04d", i))
	}
	for i := range defects {
		required = append(required, fmt.Sprintf("required-%04d", i))
	}
	r := report.New("1.0.0", "label", 1500, required)
	yes := true
	r.Profiles = []report.Profile{
		{Profile: profile.None, Tools: []string{}, InstructionsPresent: &yes},
		{Profile: profile.All, Tools: append(slices.Clone(required), tools...), InstructionsPresent: &yes},
	}
	for _, tool := range tools {
		r.Candidates = append(r.Candidates, report.Candidate(profile.None, tool, []profile.Profile{profile.All}))
	}
	for _, tool := range required {
		r.Defects = append(r.Defects, report.Defect(profile.None, tool, []profile.Profile{profile.All}))
	}
	r.Finish()
	return r
}

// incomplete is a report in which each profile has that diagnosis, or none.
func incomplete(diagnoses ...*diagnosis.Diagnosis) report.Report {
	r := report.New("1.0.0", "label", 1500, nil)
	yes := true
	for i, d := range diagnoses {
		p := report.Profile{Profile: profile.Every()[i], Diagnosis: d, Tools: []string{}, InstructionsPresent: &yes}
		if d != nil {
			p.Error, p.Tools, p.InstructionsPresent = report.Incomplete(), nil, nil
		}
		r.Profiles = append(r.Profiles, p)
	}
	return r
}

func TestAnnotate(t *testing.T) {
	t.Parallel()
	r := missing(0, 0)
	r.Profiles = slices.Insert(r.Profiles, 1, report.Profile{Profile: profile.Roots, Tools: []string{}, InstructionsPresent: r.Profiles[0].InstructionsPresent})
	both, only := []profile.Profile{profile.None, profile.Roots}, []profile.Profile{profile.All}
	r.Acknowledged = []string{"known", "stale", "wanted"}
	for _, p := range both {
		for _, tool := range []string{"known", "mentioned"} {
			r.Candidates = append(r.Candidates, report.Candidate(p, tool, only))
		}
		r.Defects = append(r.Defects, report.Defect(p, "wanted", only))
	}
	r.Candidates = append(r.Candidates, report.Candidate(profile.All, "another", both))
	r.Defects = append(r.Defects, report.Defect(profile.All, "unknown", nil))
	candidate, defect := r.Candidates[0].Hint, r.Defects[0].Hint
	got := Annotate(r, map[locate.Key]locate.Position{{Tool: "mentioned"}: {File: "docs/a.md", Line: 7}, {Tool: "known"}: {File: "b", Line: 1}})
	want := Annotations{
		Errors: []Annotation{
			{"Required tool is missing for some clients", "The required tool unknown is not listed in profile all; it is available in no selected profile. " + defect, locate.Position{}},
			{"Required tool is missing for some clients", "The required tool wanted is not listed in profile none, roots; it is available in all. " + defect, locate.Position{}},
		},
		Warnings: []Annotation{
			{"Instructions name a tool that some clients do not get", "The tool another is not listed in profile all, whose instructions name it; it is available in none, roots. " + candidate + " " + noPlace, locate.Position{}},
			{"Instructions name a tool that some clients do not get", "The tool mentioned is not listed in profile none, roots, whose instructions name it; it is available in all. " + candidate, locate.Position{File: "docs/a.md", Line: 7}},
		},
		Notices: []Annotation{
			{"Acknowledged, but no candidate", "The tool stale in acknowledge matches no candidate: take it off the list.", locate.Position{}},
			{"Acknowledged, but no candidate", "The tool wanted in acknowledge matches no candidate: take it off the list.", locate.Position{}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestAnnotateIncomplete: one error for each incomplete profile; nothing is
// stale, since nothing was compared.
func TestAnnotateIncomplete(t *testing.T) {
	t.Parallel()
	timeout := &diagnosis.Diagnosis{Code: diagnosis.Timeout, Stage: diagnosis.ToolsList, When: diagnosis.Beside}
	spawn := &diagnosis.Diagnosis{Code: diagnosis.SpawnFailed, Stage: diagnosis.Start, When: diagnosis.InContainer}
	r := incomplete(spawn, nil, timeout, timeout)
	r.Acknowledged = []string{"stale"}
	got := Annotate(r, nil)
	if len(got.Errors) != 3 || len(got.Warnings) != 0 || len(got.Notices) != 0 {
		t.Fatalf("%+v", got)
	}
	for i, parts := range [][]string{
		{"Profile none is incomplete: spawn-failed at start: ", "npx, uv, uvx"},
		{"Profile sampling is incomplete: timeout at tools/list: ", "--jobs 1"},
		{"Profile elicitation is incomplete: timeout at tools/list: ", "--jobs 1"},
	} {
		if m := got.Errors[i].Message; !strings.HasPrefix(m, parts[0]) || !strings.Contains(m, parts[1]) || !strings.HasSuffix(m, ".") {
			t.Errorf("%d: %s", i, m)
		}
	}
}

// TestNeverMoreThanTen: GitHub drops the eleventh annotation of a kind in a
// step, errors of our own included.
func TestNeverMoreThanTen(t *testing.T) {
	t.Parallel()
	for _, groups := range []int{0, 1, 8, 9, 10, 11, 3000} {
		for _, failures := range [][2]int{{0, 0}, {1, 0}, {1, 2}, {0, 2}} {
			r := missing(groups, groups)
			for i := range groups {
				r.Acknowledged = append(r.Acknowledged, fmt.Sprintf("stale-%04d", i))
			}
			a, out := newAction(t, nil)
			for range failures[0] {
				a.Fail("before", "Before.")
			}
			a.Publish(Annotate(r, nil))
			for range failures[1] {
				a.Fail("after", "After.")
			}
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
		a.Publish(Annotations{Warnings: []Annotation{{"t", "m", locate.Position{File: file, Line: 12}}}})
		commands, plain := readLog(t, out.String())
		want := []command{{"warning", map[string]string{"file": file, "line": "12", "title": "t"}, "m"}}
		if diff := cmp.Diff(want, commands, cmp.AllowUnexported(command{})); diff != "" || len(plain) > 0 {
			t.Errorf("%q:\n%s%q", file, diff, plain)
		}
	}
	// The old form of commands knows no escape.
	a, out := newAction(t, nil)
	a.Publish(Annotations{Warnings: []Annotation{{"t", "m", locate.Position{File: "##[error]x.md", Line: 12}}}})
	if commands, _ := readLog(t, out.String()); len(commands) != 1 || commands[0].fields["file"] != "" {
		t.Errorf("%+v", commands)
	}
}

// TestNamesAreNoCommands: valid names look like commands (case 20).
func TestNamesAreNoCommands(t *testing.T) {
	t.Parallel()
	names := []string{"::error::x", "::set-output", "::stop-commands::y", "::add-mask::t", "::", ":", "set-output", "::endgroup::"}
	r := missing(0, 0)
	r.Server = names[0]
	r.RequiredTools, r.Acknowledged = names, names
	for _, tool := range names {
		r.Candidates = append(r.Candidates, report.Candidate(profile.None, tool, []profile.Profile{profile.All}))
		r.Defects = append(r.Defects, report.Defect(profile.None, tool, []profile.Profile{profile.All}))
	}
	a, out := newAction(t, nil)
	a.LogText(r.Text(false))
	for _, remark := range r.Remarks() {
		a.Logf("mcpeval: %s", remark)
	}
	r.Acknowledged = nil
	a.Publish(Annotate(r, nil))
	r.Acknowledged = []string{"::stale::"}
	a.Publish(Annotations{Notices: Annotate(r, nil).Notices})
	if commands, plain := readLog(t, out.String()); len(commands) != 8+8+1 || len(plain) < 70 {
		t.Errorf("%d commands, %d lines", len(commands), len(plain))
	}
	a.Logf("%s", "x ##[error]y")
	readLog(t, out.String())
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	complete, failed := missing(3, 0), missing(3, 2)
	broken := incomplete(&diagnosis.Diagnosis{Code: diagnosis.Timeout, Stage: diagnosis.Settle}, nil)
	for _, row := range []struct {
		name    string
		outcome Outcome
		want    []string // in action.yml's order
	}{
		{"complete", Outcome{&complete, "out/r.json", 0}, []string{"true", "true", "0", "3", "0", "out/r.json"}},
		{"defects", Outcome{&failed, "r.json", 1}, []string{"false", "true", "1", "3", "2", "r.json"}},
		{"incomplete", Outcome{&broken, "r.json", 3}, []string{"null", "false", "3", "0", "0", "r.json"}},
		{"not written", Outcome{&complete, "", 3}, []string{"true", "true", "3", "3", "0", ""}},
		{"usage", Outcome{nil, "", 2}, []string{"null", "false", "2", "0", "0", ""}},
		{"interrupted", Outcome{nil, "", 143}, []string{"null", "false", "143", "0", "0", ""}},
		{"heredoc", Outcome{nil, "_GitHubActionsFileCommandDelimeter_", 0}, []string{"null", "false", "0", "0", "0", "_GitHubActionsFileCommandDelimeter_"}},
		{"odd", Outcome{nil, "a<<b=c, 'd' \"e\"", 0}, []string{"null", "false", "0", "0", "0", "a<<b=c, 'd' \"e\""}},
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
		for i, name := range []string{"passed", "complete", "exit-code", "candidates", "defects", "report"} {
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
			"GITHUB_OUTPUT":       func(a *Action) error { return a.SetOutputs(Outcome{}) },
			"GITHUB_STEP_SUMMARY": func(a *Action) error { return a.Summarize("text") },
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
	got := UsageSummary("Invalid input x: must be one of a_b, <c>, *d*, [e](f), `g` | #h \\")
	want := "## ❌ MCP guidance: invalid input\n\nInvalid input x: must be one of a\\_b, \\<c\\>, \\*d\\*, \\[e\\](f), \\`g\\` \\| \\#h \\\\.\n\nNothing was started or contacted.\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestExitWords(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for status := range 4 {
		seen[ExitWords(status)]++
	}
	seen[ExitWords(143)]++
	if len(seen) != 5 || ExitWords(130) != ExitWords(143) {
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
	if a.LogLost() {
		t.Error("lost before anything was written")
	}
	a.Group("g")()
	a.Fail("t", "m")
	a.LogText([]byte("a\nb\n"))
	a.Publish(Annotate(missing(1, 1), nil))
	if !a.LogLost() {
		t.Error("not known to be lost")
	}
}
