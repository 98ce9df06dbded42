package render

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xeipuuv/gojsonschema"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/result"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func renderings(r result.Result) map[string][]byte {
	text := Text(r, false)
	for _, remark := range Remarks(r) {
		text = append(text, "stderr: "+remark+"\n"...)
	}
	var annotations strings.Builder
	all := Annotate(r, places(r))
	for _, kind := range []struct {
		word string
		list []Annotation
	}{{"error", all.Errors}, {"warning", all.Warnings}, {"notice", all.Notices}} {
		for _, a := range kind.list {
			fmt.Fprintf(&annotations, "%s: %s\n  %s\n", kind.word, a.Title, a.Message)
			if a.At.File != "" {
				fmt.Fprintf(&annotations, "  at %s:%d\n", a.At.File, a.At.Line)
			}
		}
	}
	return map[string][]byte{"txt": text, "md": Markdown(r), "annotations": []byte(annotations.String()), "sarif": SARIF(r, places(r), "README.md")}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, r := range results() {
		for kind, got := range renderings(r) {
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
				t.Errorf("%s (run go test ./internal/render -update and look at the difference):\n%s", file, diff)
			}
		}
	}
}

// Every golden file belongs to a result.
func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	const schemas = 1
	if want := len(renderings(results()["clean"]))*len(results()) + schemas; len(files) != want {
		t.Errorf("%d golden files, want %d", len(files), want)
	}
}

// The runner reads workflow commands at the start of a line after blanks, and
// ##[ anywhere: nothing that a server or a file chose may stand there. SARIF
// and annotations do not go to the log as lines.
func TestNoLineBeginsWithAName(t *testing.T) {
	t.Parallel()
	for resultName, r := range results() {
		chosen := slices.Concat([]name.Name{r.Server}, r.Required, r.Acknowledged)
		for _, o := range r.Matrix.Observations {
			chosen = append(chosen, o.Tools...)
			if o.Session.Entry != "" {
				chosen = append(chosen, o.Session.Entry)
			}
		}
		for kind, text := range map[string][]byte{"txt": Text(r, false), "colour": Text(r, true), "md": Markdown(r), "remarks": []byte(strings.Join(Remarks(r), "\n"))} {
			for line := range strings.Lines(string(text)) {
				line = strings.Trim(line, " \t\r\n\v\f")
				for _, word := range chosen {
					if strings.HasPrefix(line, string(word)) {
						t.Errorf("%s.%s: a line begins with a name: %q", resultName, kind, line)
					}
				}
				if strings.HasPrefix(line, "::") || strings.Contains(line, "##[") {
					t.Errorf("%s.%s: a command: %q", resultName, kind, line)
				}
			}
		}
		all := Annotate(r, nil)
		for _, a := range slices.Concat(all.Errors, all.Warnings, all.Notices) {
			if strings.ContainsAny(a.Title+a.Message, "\r\n") {
				t.Errorf("%s: more than one line: %q", resultName, a.Message)
			}
		}
	}
}

func TestTextIsASCII(t *testing.T) {
	t.Parallel()
	for name, r := range results() {
		for _, text := range append(Remarks(r), string(Text(r, false))) {
			for _, c := range text {
				if c != '\n' && (c < 0x20 || c > 0x7e) {
					t.Errorf("%s: %q in %q", name, c, text)
				}
			}
			for line := range strings.Lines(text) {
				if strings.HasSuffix(line, " \n") {
					t.Errorf("%s: blanks at the end of %q", name, line)
				}
			}
		}
	}
}

// Colour only adds codes around words.
func TestColour(t *testing.T) {
	t.Parallel()
	for name, r := range results() {
		plain, coloured := string(Text(r, false)), string(Text(r, true))
		if strings.Contains(plain, "\x1b") || !strings.Contains(coloured, "\x1b[") {
			t.Errorf("%s: colour where there should be none, or none", name)
		}
		without := coloured
		for _, code := range []string{red, green, yellow} {
			without = strings.ReplaceAll(without, "\x1b["+code+"m", "")
		}
		without = strings.ReplaceAll(without, "\x1b[0m", "")
		if diff := cmp.Diff(plain, without); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if strings.Count(coloured, "\x1b[0m")*2 != strings.Count(coloured, "\x1b[") {
			t.Errorf("%s: a colour that is not ended", name)
		}
	}
}

// The verdict is that of the exit status.
func TestVerdict(t *testing.T) {
	t.Parallel()
	words := map[int]string{result.ExitOK: Passed, result.ExitDefects: Failed, result.ExitIncomplete: Incomplete}
	for name, r := range results() {
		if word, _ := Verdict(r); word != words[r.ExitStatus()] {
			t.Errorf("%s: %s with exit status %d", name, word, r.ExitStatus())
		}
	}
}

// The public schema of SARIF 2.1.0 (OASIS) holds for what is printed.
func TestSARIFSchema(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range results() {
		for _, anchor := range []string{"", "README.md"} {
			for _, at := range []map[Key]Position{nil, places(r)} {
				judged, err := schema.Validate(gojsonschema.NewBytesLoader(SARIF(r, at, anchor)))
				if err != nil {
					t.Fatal(err)
				}
				if !judged.Valid() {
					t.Errorf("%s: %v", name, judged.Errors())
				}
			}
		}
	}
	if judged, err := schema.Validate(gojsonschema.NewStringLoader(`{"version": "2.1.0", "runs": [{"tool": {}}]}`)); err != nil || judged.Valid() {
		t.Errorf("the schema refuses nothing: %v", err)
	}
}

func TestFingerprints(t *testing.T) {
	t.Parallel()
	r := results()["thirty"]
	seen := map[string]bool{}
	for _, f := range r.Findings {
		print := fingerprintOf(r.Server, f)
		if seen[print] {
			t.Errorf("%s of %s has the fingerprint of another", f.Tool, f.Source.Tool)
		}
		seen[print] = true
		f.In, f.AvailableIn, f.Places, f.Hint = 1, 0, nil, ""
		if fingerprintOf(r.Server, f) != print {
			t.Errorf("the fingerprint of %s changes with its sessions", f.Tool)
		}
	}
}

func TestRelative(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"a.md": "a.md", "a b/c.md": "a%20b/c.md", "a:b/c": "a%3Ab/c", "ä/#?%.md": "%C3%A4/%23%3F%25.md",
	} {
		if got := relative(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// Instructions come first, then one description of each tool.
func TestWarningsByWeight(t *testing.T) {
	t.Parallel()
	r := results()["thirty"]
	var got []string
	for _, f := range ToReview(r) {
		got = append(got, string(f.Tool)+" "+string(f.Source.Tool))
	}
	want := []string{"lock_file ", "roots_only ", "get_old_file ", "lock_file tool_00", "get_old_file get_file", "lock_file tool_01"}
	if len(got) != len(r.Findings) || !slices.Equal(got[:len(want)], want) {
		t.Errorf("%q", got)
	}
}

// GitHub drops a summary of more than 1 MiB.
func TestLargeMarkdown(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	pad := func(prefix string, i int) name.Name {
		return name.Name(fmt.Sprintf("%s-%0*d", prefix, 127-len(prefix), i))
	}
	for _, c := range []struct{ tools, missing, required, entries int }{
		{10000, 3000, 0, 1}, {10000, 10000, 0, 1}, {10000, 10000, 10000, 1}, {10000, 0, 10000, 1}, {0, 0, 10000, 1}, {10000, 10000, 10000, 12},
	} {
		var tools []name.Name
		for i := range c.tools {
			tools = append(tools, pad("tool", i))
		}
		in := info()
		for i := range c.required {
			in.Required = append(in.Required, pad("required", i))
		}
		in.Acknowledged = in.Required
		var observations []observe.Observation
		for e := range c.entries {
			for _, p := range profile.Every() {
				o := discovered(p, true, tools[c.missing:]...)
				if p == profile.All {
					o = discovered(p, true, tools...)
				}
				o.Session.Protocol = protocol.Default
				if c.entries > 1 {
					o.Session.Entry = pad("entry", e)
				}
				observations = append(observations, o)
			}
		}
		r := finished(in, observations, result.Counted{}, func(r result.Result) []detect.Finding { return referenced(r, tools[:c.missing]...) })
		text := string(Markdown(r))
		if len(text) > limit {
			t.Errorf("%+v: %d bytes", c, len(text))
		}
		if !strings.Contains(text, "more: see the JSON report") {
			t.Errorf("%+v: does not say that something was left out", c)
		}
		if strings.Count(text, "<details>") != strings.Count(text, "</details>") {
			t.Errorf("%+v: a fold that is not closed", c)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "|") && !strings.HasSuffix(line, "|\n") {
				t.Errorf("%+v: a row is cut: %q", c, line)
			}
		}
	}
}
