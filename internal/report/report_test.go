package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/profile"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func complete(p profile.Profile, instructions bool, tools ...string) Profile {
	return Profile{Profile: p, Tools: append([]string{}, tools...), InstructionsPresent: &instructions}
}

func incompleteRow(p profile.Profile, code diagnosis.Code, stage diagnosis.Stage, when diagnosis.Circumstance) Profile {
	return Profile{Profile: p, Error: Incomplete(), Diagnosis: &diagnosis.Diagnosis{Code: code, Stage: stage, When: when}}
}

func base(required ...string) Report {
	r := New("1.2.3", "everything", 1500, required)
	r.TimeoutMS, r.Jobs = 60000, 5
	return r
}

// The reports that drive the golden files: one value, three renderings.
func reports() map[string]Report {
	const (
		none, roots, sampling, elicitation, all = profile.None, profile.Roots, profile.Sampling, profile.Elicitation, profile.All
		listRoots, elicit, sample               = "get-roots-list", "trigger-elicitation-request", "trigger-sampling-request"
	)
	everything := []Profile{
		complete(none, true, "add", "echo"),
		complete(roots, true, "add", "echo", listRoots),
		complete(sampling, true, "add", "echo", sample),
		complete(elicitation, true, "add", "echo", elicit),
		complete(all, true, "add", "echo", listRoots, elicit, sample),
	}
	in := func(list ...profile.Profile) []profile.Profile { return list }
	nine := []Finding{
		Candidate(none, listRoots, in(roots, all)), Candidate(none, elicit, in(elicitation, all)), Candidate(none, sample, in(sampling, all)),
		Candidate(roots, elicit, in(elicitation, all)), Candidate(roots, sample, in(sampling, all)),
		Candidate(sampling, listRoots, in(roots, all)), Candidate(sampling, elicit, in(elicitation, all)),
		Candidate(elicitation, listRoots, in(roots, all)), Candidate(elicitation, sample, in(sampling, all)),
	}
	out := map[string]Report{}
	finished := func(name string, r Report) {
		r.Finish()
		out[name] = r
	}

	r := base()
	r.Profiles, r.Candidates = everything, nine
	finished("candidates", r)

	r = base("echo", "missing-everywhere", elicit)
	r.Profiles, r.Candidates = everything, nine[:3]
	for _, p := range everything {
		if !slices.Contains(p.Tools, elicit) {
			r.Defects = append(r.Defects, Defect(p.Profile, "missing-everywhere", nil), Defect(p.Profile, elicit, in(elicitation, all)))
		} else {
			r.Defects = append(r.Defects, Defect(p.Profile, "missing-everywhere", nil))
		}
	}
	finished("defects", r)

	r = base("echo")
	r.Acknowledged = []string{"gone"}
	r.Profiles = []Profile{
		complete(none, true, "echo"),
		incompleteRow(roots, diagnosis.Timeout, diagnosis.ToolsList, diagnosis.Noise|diagnosis.Beside),
		incompleteRow(sampling, diagnosis.SpawnFailed, diagnosis.Start, diagnosis.InContainer),
		incompleteRow(elicitation, diagnosis.Timeout, diagnosis.ToolsList, diagnosis.Noise|diagnosis.Beside),
		incompleteRow(all, diagnosis.CursorMalformed, diagnosis.ToolsList, 0),
	}
	r.Profiles[0].Noise, r.Profiles[1].Noise, r.Profiles[3].Noise = 2, 10, 1
	out["incomplete"] = r

	r = base()
	r.Profiles = []Profile{incompleteRow(none, diagnosis.ConnectionRefused, diagnosis.Initialize, diagnosis.InContainer|diagnosis.Loopback)}
	out["refused"] = r

	r = base("add")
	r.Profiles = []Profile{complete(none, true, "add", "echo"), complete(all, false, "add", "echo")}
	finished("clean", r)

	r = base()
	r.Acknowledged = []string{"gone", listRoots, sample, "too-old"}
	r.Profiles, r.Candidates = everything, nine
	finished("acknowledged", r)

	r = base()
	r.Acknowledged = []string{listRoots, elicit, sample}
	r.Profiles, r.Candidates = everything, nine
	finished("all-acknowledged", r)

	r = base()
	r.Profiles = []Profile{complete(none, false, "add"), complete(all, false, "add", "echo")}
	finished("no-instructions", r)

	long, longer := strings.Repeat("l", 128), strings.Repeat("m", 128)
	r = New(strings.Repeat("9", 128), strings.Repeat("s", 128), 0, []string{long, longer})
	r.TimeoutMS, r.Jobs = 600000, 1
	r.Profiles = []Profile{complete(none, true, long), complete(all, true, long, longer)}
	r.Candidates = []Finding{Candidate(none, longer, in(all))}
	r.Defects = []Finding{Defect(none, longer, in(all))}
	finished("long", r)

	r = base()
	r.Profiles = []Profile{complete(none, true), complete(roots, true), complete(all, false)}
	for i := range r.Profiles {
		r.Profiles[i].NoTools = true
	}
	finished("no-tools", r)

	r = base()
	r.Profiles = []Profile{complete(none, true), complete(roots, true, "echo"), complete(all, true, "echo")}
	r.Profiles[0].NoTools, r.Profiles[1].Noise = true, 1
	finished("no-tools-in-one", r)

	r = New("0.0.0-dev", "::error::x", 1500, []string{"::add-mask::y", "::stop-commands::z"})
	r.TimeoutMS, r.Jobs, r.Acknowledged = 60000, 5, []string{"::notice::old", "::warning::w"}
	r.Profiles = []Profile{
		complete(none, true), complete(all, true, "::add-mask::y", "::error::x", "::warning::w"),
	}
	r.Candidates = []Finding{Candidate(none, "::error::x", in(all)), Candidate(none, "::warning::w", in(all))}
	r.Defects = []Finding{
		Defect(none, "::add-mask::y", in(all)), Defect(none, "::stop-commands::z", nil), Defect(all, "::stop-commands::z", nil),
	}
	finished("commands", r)
	return out
}

// document is the JSON report, whole in memory.
func document(r Report) ([]byte, error) {
	var out bytes.Buffer
	err := r.WriteJSON(&out)
	return out.Bytes(), err
}

func renderings(t testing.TB, r Report) map[string][]byte {
	t.Helper()
	document, err := document(r)
	if err != nil {
		t.Fatal(err)
	}
	text := r.Text(false)
	for _, remark := range r.Remarks() {
		text = append(text, "stderr: "+remark+"\n"...)
	}
	return map[string][]byte{"txt": text, "json": document, "md": r.Markdown()}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, r := range reports() {
		for kind, got := range renderings(t, r) {
			file := filepath.Join("testdata", name+"."+kind)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (run go test ./internal/report -update and look at the difference):\n%s", file, diff)
			}
		}
	}
}

// Every golden file belongs to a report.
func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	if want := 3 * len(reports()); len(files) != want {
		t.Errorf("%d golden files, want %d", len(files), want)
	}
}

// The runner reads workflow commands at the start of a line after blanks, and
// ##[ anywhere: nothing that a server chose may stand there.
func TestNoLineBeginsWithAName(t *testing.T) {
	t.Parallel()
	for name, r := range reports() {
		chosen := append([]string{r.Server}, r.RequiredTools...)
		chosen = append(chosen, r.Acknowledged...)
		for _, p := range r.Profiles {
			chosen = append(chosen, p.Tools...)
		}
		rendered := renderings(t, r)
		rendered["colour"] = r.Text(true)
		for kind, text := range rendered {
			for line := range strings.Lines(string(text)) {
				line = strings.Trim(line, " \t\r\n\v\f")
				for _, word := range chosen {
					if strings.HasPrefix(line, word) {
						t.Errorf("%s.%s: a line begins with a name: %q", name, kind, line)
					}
				}
				if strings.HasPrefix(line, "::") || strings.Contains(line, "##[") {
					t.Errorf("%s.%s: a command: %q", name, kind, line)
				}
			}
		}
		for _, remark := range r.Remarks() {
			if strings.ContainsAny(remark, "\r\n") {
				t.Errorf("%s: a remark of more than one line: %q", name, remark)
			}
		}
	}
}

func TestTextIsASCII(t *testing.T) {
	t.Parallel()
	for name, r := range reports() {
		for _, text := range append(r.Remarks(), string(r.Text(false))) {
			for _, c := range text {
				if c != '\n' && (c < 0x20 || c > 0x7e) {
					t.Errorf("%s: %q in %q", name, c, text)
				}
			}
		}
	}
}

// Colour only adds codes around words.
func TestColour(t *testing.T) {
	t.Parallel()
	for name, r := range reports() {
		plain, coloured := string(r.Text(false)), string(r.Text(true))
		if strings.Contains(plain, "\x1b") || !strings.Contains(coloured, "\x1b[") {
			t.Errorf("%s: colour where there should be none, or none", name)
		}
		without := coloured
		for _, code := range []string{"\x1b[1;31m", "\x1b[1;32m", "\x1b[1;33m", "\x1b[0m"} {
			without = strings.ReplaceAll(without, code, "")
		}
		if diff := cmp.Diff(plain, without); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if strings.Count(coloured, "\x1b[0m")*2 != strings.Count(coloured, "\x1b[") {
			t.Errorf("%s: a colour that is not ended", name)
		}
	}
}

func TestExitStatus(t *testing.T) {
	t.Parallel()
	want := map[string]int{
		"candidates": 0, "clean": 0, "acknowledged": 0, "all-acknowledged": 0, "no-tools": 0, "no-tools-in-one": 0, "no-instructions": 0,
		"defects": 1, "long": 1, "commands": 1, "incomplete": 3, "refused": 3,
	}
	for name, r := range reports() {
		status, ok := want[name]
		if got := r.ExitStatus(); !ok || got != status {
			t.Errorf("%s: %d, want %d", name, got, status)
		}
		word, _ := r.Verdict()
		if expected := map[int]string{0: "PASSED", 1: "FAILED", 3: "INCOMPLETE"}[status]; word != expected {
			t.Errorf("%s: %s, want %s", name, word, expected)
		}
		if (r.Passed == nil) != (status == 3) || r.Passed != nil && *r.Passed != (status == 0) {
			t.Errorf("%s: passed is %v", name, r.Passed)
		}
	}
}

// The keys of v1, in order, and no others (CONTRACT.md section 3).
func TestKeyOrder(t *testing.T) {
	t.Parallel()
	document, err := document(reports()["defects"])
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	var keys []string
	depth := 0
	for isKey := false; ; {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				depth++
			} else {
				depth--
			}
			isKey = depth == 1
		case string:
			if depth == 1 && isKey {
				keys = append(keys, token)
			}
			isKey = !isKey && depth == 1
		default:
			isKey = depth == 1
		}
	}
	want := []string{"schema", "generator", "server", "protocol_version", "reference_detection", "settle_ms", "complete", "passed",
		"required_tools", "profiles", "candidates", "defects"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
	for _, order := range []string{`"profile": "none",\s+"tools": \[.*?\],\s+"instructions_present": true,\s+"error": null`,
		`"profile": "none",\s+"tool": "[^"]+",\s+"reason": "[^"]+",\s+"hint": "[^"]+",\s+"available_in": `} {
		if !regexp.MustCompile("(?s)" + order).Match(document) {
			t.Errorf("no %s in the report", order)
		}
	}
}

func TestJSONIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	for name, r := range reports() {
		first, err := document(r)
		if err != nil {
			t.Fatal(err)
		}
		second, err := document(reports()[name])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("%s differs", name)
		}
		if !json.Valid(first) || first[len(first)-1] != '\n' {
			t.Errorf("%s is no JSON that ends in a newline", name)
		}
		// What is for people never enters v1.
		for _, word := range []string{"acknowledged", "timeout", "jobs", "noise", "cursor", "spawn"} {
			if strings.Contains(strings.ToLower(string(first)), word) && name != "commands" {
				t.Errorf("%s: %q is in the JSON report", name, word)
			}
		}
	}
}

func TestJSONRefusesWhatBreaksTheSchema(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(*Report){
		"label":          func(r *Report) { r.Server = "a b" },
		"tool":           func(r *Report) { r.Profiles[0].Tools = []string{"a\n::error::x"} },
		"tool twice":     func(r *Report) { r.Profiles[0].Tools = []string{"a", "a"} },
		"no profile":     func(r *Report) { r.Profiles = nil },
		"version":        func(r *Report) { r.Generator.Version = "1 2" },
		"settle":         func(r *Report) { r.SettleMS = 5001 },
		"passed":         func(r *Report) { r.Passed = new(bool) },
		"not complete":   func(r *Report) { r.Complete = false },
		"nil candidates": func(r *Report) { r.Candidates = nil },
		"nil required":   func(r *Report) { r.RequiredTools = nil },
		"nil tools":      func(r *Report) { r.Profiles[0].Tools = nil },
		"own reason":     func(r *Report) { r.Candidates[0].Reason = "other" },
		"invalid UTF-8":  func(r *Report) { r.Profiles[0].Tools = []string{"\xff"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := reports()["candidates"]
			breaks(&r)
			document, err := document(r)
			if err == nil || document != nil {
				t.Fatalf("printed: %.80s", document)
			}
			if strings.Contains(err.Error(), "::error") || strings.Contains(err.Error(), "a b") {
				t.Errorf("the error holds a value: %v", err)
			}
		})
	}
}

func TestStaleAcknowledgements(t *testing.T) {
	t.Parallel()
	all := reports()
	for name, want := range map[string][]string{
		"acknowledged": {"gone", "too-old"}, "all-acknowledged": nil, "candidates": nil, "commands": {"::notice::old"},
		"incomplete": nil, // nothing is known of an incomplete run
	} {
		if diff := cmp.Diff(want, all[name].StaleAcknowledgements()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	const none, roots, all = profile.None, profile.Roots, profile.All
	r := base()
	r.Acknowledged = []string{"a"}
	in := []profile.Profile{all}
	got := r.Grouped([]Finding{Candidate(none, "b", in), Candidate(none, "a", in), Candidate(roots, "b", in), Defect(roots, "_", nil)})
	want := []Group{
		{"_", ReasonDefect, hintDefect, []profile.Profile{roots}, []profile.Profile{}, false},
		{"a", ReasonCandidate, hintCandidate, []profile.Profile{none}, in, true},
		{"b", ReasonCandidate, hintCandidate, []profile.Profile{none, roots}, in, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A defect is never acknowledged.
	if r.Grouped([]Finding{Defect(none, "a", nil)})[0].Acknowledged {
		t.Error("an acknowledged defect")
	}
}

// large is a report of the most tools that discovery reads, with names of
// 128 bytes, every tenth tool in the profile all alone.
func large(tools, findings int) Report {
	r := base()
	var every, most []string
	for i := range tools {
		name := fmt.Sprintf("tool-%05d-%s", i, strings.Repeat("x", 128-11))
		every = append(every, name)
		if i >= findings {
			most = append(most, name)
		}
	}
	for _, p := range profile.Every() {
		if p == profile.All {
			r.Profiles = append(r.Profiles, complete(p, true, every...))
			continue
		}
		r.Profiles = append(r.Profiles, complete(p, true, most...))
		for _, name := range every[:findings] {
			r.Candidates = append(r.Candidates, Candidate(p, name, []profile.Profile{profile.All}))
		}
	}
	return r
}

// GitHub drops a summary of more than 1 MiB.
func TestLargeMarkdown(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	for _, c := range []struct{ tools, findings, defects, required int }{
		{10000, 3000, 0, 0}, {10000, 10000, 0, 0}, {10000, 10000, 10000, 10000}, {10000, 0, 0, 10000}, {0, 0, 10000, 10000},
	} {
		r := large(c.tools, c.findings)
		for i := range c.defects {
			r.Defects = append(r.Defects, Defect(profile.None, fmt.Sprintf("defect-%0121d", i), nil))
		}
		for i := range c.required {
			r.RequiredTools = append(r.RequiredTools, fmt.Sprintf("required-%0119d", i))
			r.Acknowledged = append(r.Acknowledged, fmt.Sprintf("required-%0119d", i))
		}
		r.Finish()
		text := string(r.Markdown())
		if len(text) > limit {
			t.Errorf("%+v: %d bytes", c, len(text))
		}
		if want := c.findings+c.defects+c.required > 0; strings.Contains(text, "more") != want {
			t.Errorf("%+v: does not say that something was left out", c)
		}
		if !strings.Contains(text, "</details>") {
			t.Errorf("%+v: the settings are missing", c)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "|") && !strings.HasSuffix(line, "|\n") {
				t.Errorf("%+v: a row is cut: %q", c, line)
			}
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	r := large(10000, 3000)
	r.Finish()
	b.ReportAllocs()
	var peak uint64
	for b.Loop() {
		document, err := document(r)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(document)))
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapSys-m.HeapReleased)
	}
	b.ReportMetric(float64(peak)/(1<<20), "heap-MiB")
}
