package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/result"
)

var update = flag.Bool("update", false, "rewrite the golden files of v2: those of v1 stay as they are for ever")

const (
	none, roots, sampling, elicitation, all = profile.None, profile.Roots, profile.Sampling, profile.Elicitation, profile.All
	listRoots, elicit, sample               = name.Name("get-roots-list"), name.Name("trigger-elicitation-request"), name.Name("trigger-sampling-request")
)

func discovered(p profile.Profile, instructions bool, tools ...name.Name) observe.Observation {
	return observe.Observation{Session: observe.Session{Protocol: protocol.Default, Profile: p}, Tools: append([]name.Name{}, tools...), HasInstructions: instructions}
}

func failed1(p profile.Profile, code diagnosis.Code) observe.Observation {
	return observe.Observation{Session: observe.Session{Protocol: protocol.Default, Profile: p}, Diagnosis: &diagnosis.Diagnosis{Code: code, Stage: diagnosis.ToolsList}}
}

func info(required ...name.Name) result.Info {
	return result.Info{Version: "1.2.3", Server: "everything", SettleMS: 1500, TimeoutMS: 60000, Jobs: 5, Required: required}
}

// named are the sessions, by index, whose instructions name a tool that they
// do not list.
type named struct {
	tool name.Name
	in   []int
}

// finished is a complete result with its defects, and with candidates as they
// would be after discovery.
func finished(in result.Info, observations []observe.Observation, names ...named) result.Result {
	r := result.New(in, observations)
	for _, n := range names {
		f := detect.Finding{Rule: detect.Rules()[1], Tool: n.tool, Source: detect.Source{Kind: detect.Instructions}, AvailableIn: r.Matrix.Listing(n.tool)}
		for _, session := range n.in {
			f.In = f.In.With(session)
		}
		f.Hint = f.Rule.Hint.Sessions
		if r.AsV1 {
			f.Hint = f.Rule.Hint.Profiles
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

func everything() []observe.Observation {
	return []observe.Observation{
		discovered(none, true, "add", "echo"),
		discovered(roots, true, "add", "echo", listRoots),
		discovered(sampling, true, "add", "echo", sample),
		discovered(elicitation, true, "add", "echo", elicit),
		discovered(all, true, "add", "echo", listRoots, elicit, sample),
	}
}

func firstReports() map[string]result.Result {
	nine := []named{{listRoots, []int{0, 2, 3}}, {elicit, []int{0, 1, 2}}, {sample, []int{0, 1, 3}}}
	out := map[string]result.Result{
		"candidates": finished(info(), everything(), nine...),
		"defects":    finished(info("echo", "missing-everywhere", elicit), everything(), named{listRoots, []int{0}}, named{elicit, []int{0}}, named{sample, []int{0}}),
		"incomplete": result.New(info("echo"), []observe.Observation{
			discovered(none, true, "echo"), failed1(roots, diagnosis.Timeout), failed1(sampling, diagnosis.SpawnFailed),
			failed1(elicitation, diagnosis.Timeout), failed1(all, diagnosis.CursorMalformed),
		}),
		"refused":         result.New(info(), []observe.Observation{failed1(none, diagnosis.ConnectionRefused)}),
		"clean":           finished(info("add"), []observe.Observation{discovered(none, true, "add", "echo"), discovered(all, false, "add", "echo")}),
		"no-instructions": finished(info(), []observe.Observation{discovered(none, false, "add"), discovered(all, false, "add", "echo")}),
		"no-tools":        finished(info(), []observe.Observation{discovered(none, true), discovered(roots, true), discovered(all, false)}),
		"no-tools-in-one": finished(info(), []observe.Observation{discovered(none, true), discovered(roots, true, "echo"), discovered(all, true, "echo")}),
	}
	// What is for people alone changes nothing.
	for name, acknowledged := range map[string][]name.Name{"acknowledged": {"gone", listRoots, sample, "too-old"}, "all-acknowledged": {listRoots, elicit, sample}} {
		in := info()
		in.Acknowledged = acknowledged
		out[name] = finished(in, everything(), nine...)
	}
	long, longer := name.Name(strings.Repeat("l", 128)), name.Name(strings.Repeat("m", 128))
	lengthy := result.Info{Version: strings.Repeat("9", 128), Server: name.Name(strings.Repeat("s", 128)), Required: []name.Name{long, longer}}
	out["long"] = finished(lengthy, []observe.Observation{discovered(none, true, long), discovered(all, true, long, longer)}, named{longer, []int{0}})
	commands := result.Info{Version: "0.0.0-dev", Server: "::error::x", SettleMS: 1500, Required: []name.Name{"::add-mask::y", "::stop-commands::z"}}
	out["commands"] = finished(commands, []observe.Observation{discovered(none, true), discovered(all, true, "::add-mask::y", "::error::x", "::warning::w")},
		named{"::error::x", []int{0}}, named{"::warning::w", []int{0}})
	return out
}

// secondReports are runs that v1 cannot say.
func secondReports() map[string]result.Result {
	two := func() (observations []observe.Observation) {
		for _, entry := range []name.Name{"full", "read-only"} {
			for _, version := range []protocol.Version{protocol.V20250618, protocol.V20260728} {
				o := discovered(none, true, "get_file", "write_file")
				if entry == "read-only" {
					o.Tools = o.Tools[:1]
				}
				o.Session.Entry, o.Session.Protocol = entry, version
				observations = append(observations, o)
			}
		}
		return observations
	}
	wide := info("write_file")
	wide.Words, wide.Descriptions, wide.Unlisted = true, true, true
	findings := finished(wide, two(), named{"write_file", []int{2, 3}})
	referenced, unlisted := detect.Rules()[1], detect.Rules()[2]
	findings.Findings = append(findings.Findings,
		detect.Finding{Rule: referenced, Tool: "write_file", Source: detect.Source{Kind: detect.Description, Tool: "get_file"}, In: 4, AvailableIn: 3, Hint: referenced.Hint.Descriptions},
		detect.Finding{Rule: unlisted, Tool: "get_old_file", Source: detect.Source{Kind: detect.Instructions}, In: 15, Hint: unlisted.Hint.Sessions})
	incomplete := two()
	incomplete[1].Diagnosis = &diagnosis.Diagnosis{Code: diagnosis.ProtocolVersion, Stage: diagnosis.Initialize}
	newest := discovered(all, false)
	newest.Session.Protocol = protocol.V20260728
	return map[string]result.Result{
		"v2-findings":   findings,
		"v2-incomplete": result.New(info(), incomplete),
		"v2-one":        finished(info(), []observe.Observation{newest}),
	}
}

func printed(r result.Result) ([]byte, error) {
	var out bytes.Buffer
	err := Write(&out, r)
	return out.Bytes(), err
}

// v1's files are those that were released: a change here is a broken promise.
func TestGolden(t *testing.T) {
	t.Parallel()
	check := func(name string, r result.Result, mayUpdate bool) {
		got, err := printed(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		file := filepath.Join("testdata", name+".json")
		if *update && mayUpdate {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s:\n%s", file, diff)
		}
	}
	first, second := firstReports(), secondReports()
	for name, r := range first {
		check(name, r, false)
	}
	for name, r := range second {
		check(name, r, true)
	}
	if files, _ := filepath.Glob("testdata/*"); len(files) != len(first)+len(second) {
		t.Errorf("%d golden files, want %d", len(files), len(first)+len(second))
	}
}

// The keys of a report, in order, and no others (CONTRACT.md sections 3.1 and
// 3.3).
func TestKeyOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r    result.Result
		want string
	}{
		{firstReports()["defects"], "schema generator server protocol_version reference_detection settle_ms complete passed required_tools profiles candidates defects"},
		{secondReports()["v2-findings"], "schema generator server settle_ms complete passed required_tools references sessions findings"},
	} {
		text, err := printed(c.r)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, `  "`); ok {
				key, _, _ := strings.Cut(rest, `"`)
				keys = append(keys, key)
			}
		}
		if got := strings.Join(keys, " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestWriteRefusesWhatBreaksTheSchema(t *testing.T) {
	t.Parallel()
	for _, base := range []result.Result{firstReports()["defects"], secondReports()["v2-findings"]} {
		for name, breaks := range map[string]func(*result.Result){
			"label":        func(r *result.Result) { r.Server = "a b" },
			"tool":         func(r *result.Result) { r.Matrix.Observations[0].Tools = []name.Name{"a\n::error::x"} },
			"tool twice":   func(r *result.Result) { r.Matrix.Observations[0].Tools = []name.Name{"a", "a"} },
			"no session":   func(r *result.Result) { r.Matrix.Observations, r.Findings = nil, nil },
			"version":      func(r *result.Result) { r.Version = "1 2" },
			"settle":       func(r *result.Result) { r.SettleMS = 5001 },
			"passed":       func(r *result.Result) { r.Passed = true },
			"not complete": func(r *result.Result) { r.Complete = false },
			"nil tools":    func(r *result.Result) { r.Matrix.Observations[0].Tools = nil },
			"no hint":      func(r *result.Result) { r.Findings[0].Hint = "" },
			"late finding": func(r *result.Result) {
				for range 2500 {
					r.Findings = append(r.Findings, r.Findings[len(r.Findings)-1])
				}
				r.Findings[2400].Tool = "a b"
			},
		} {
			r := base
			r.Matrix.Observations = append([]observe.Observation{}, base.Matrix.Observations...)
			r.Findings = append([]detect.Finding{}, base.Findings...)
			breaks(&r)
			text, err := printed(r)
			var invalid *InvalidError
			if !errors.As(err, &invalid) || len(text) > 0 {
				t.Errorf("%s of %t: printed %.60q, %v", name, r.AsV1, text, err)
				continue
			}
			if strings.Contains(err.Error(), "::error") || strings.Contains(err.Error(), "a b") {
				t.Errorf("%s: the error holds a value: %v", name, err)
			}
		}
	}
}

// A report of many findings is printed whole, and is JSON.
func TestMany(t *testing.T) {
	t.Parallel()
	var tools []name.Name
	for i := range 3000 {
		tools = append(tools, name.Name(fmt.Sprintf("tool-%05d", i)))
	}
	r := finished(info(tools...), []observe.Observation{discovered(none, true), discovered(all, true, tools...)})
	text, err := printed(r)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Defects []struct{ Tool string }
	}
	if err := json.Unmarshal(text, &report); err != nil || len(report.Defects) != len(tools) || report.Defects[2999].Tool != "tool-02999" {
		t.Errorf("%d defects, %v", len(report.Defects), err)
	}
}
