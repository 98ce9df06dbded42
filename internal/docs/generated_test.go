package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
	outcome "github.com/org/mcpeval-guidance/internal/result"
)

// TestGeneratedSections compares what stands between the markers of a
// document with what the code says. With -update it is rewritten.
func TestGeneratedSections(t *testing.T) {
	for _, section := range []struct {
		document, name string
		generate       func(*testing.T) string
	}{
		{"README.md", "inputs", inputTable},
		{"README.md", "outputs", outputTable},
		{"README.md", "exit", exitTable},
		{"docs/cli.md", "help", helpTexts},
		{"docs/report.md", "example", exampleReport},
		{"docs/report.md", "example-v2", exampleReportV2},
		{"docs/clients.md", "clients", clientTable},
		{"docs/diagnoses.md", "diagnoses", diagnoses},
	} {
		t.Run(section.document+"#"+section.name, func(t *testing.T) {
			content := read(t, section.document)
			marked := regexp.MustCompile(`(?s)(<!-- ` + section.name + `: [^>]+ -->\n)(.*)(<!-- /` + section.name + ` -->)`)
			at := marked.FindStringSubmatchIndex(content)
			if at == nil {
				t.Fatalf("%s has no markers for %s", section.document, section.name)
			}
			old, want := content[at[4]:at[5]], "\n"+section.generate(t)+"\n"
			if old == want {
				return
			}
			if *update {
				content = content[:at[4]] + want + content[at[5]:]
				if err := os.WriteFile(filepath.Join(root, section.document), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("run go test ./internal/docs -update (- in %s, + in the code):\n%s", section.document, cmp.Diff(old, want))
		})
	}
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func inputTable(t *testing.T) string {
	var out strings.Builder
	out.WriteString("| Input | Default | What |\n|---|---|---|\n")
	for _, in := range readAction(t, "action.yml").Inputs {
		standard := ""
		if in.Default != "" {
			standard = "`" + in.Default + "`"
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", in.Name, standard, cell(in.Description))
	}
	return out.String()
}

func outputTable(t *testing.T) string {
	var out strings.Builder
	out.WriteString("| Output | What |\n|---|---|\n")
	for _, o := range readAction(t, "action.yml").Outputs {
		fmt.Fprintf(&out, "| `%s` | %s |\n", o.Name, cell(o.Description))
	}
	return out.String()
}

var exitLine = regexp.MustCompile(`(?m)^    ([0-9])  (.+)$`)

// exitTable takes the table from the help text, whose numbers must be those
// of the code.
func exitTable(t *testing.T) string {
	var out strings.Builder
	out.WriteString("| Status | When |\n|---|---|\n")
	rows := exitLine.FindAllStringSubmatch(mcpeval(t, 0, "guidance", "--help"), -1)
	for i, status := range []int{outcome.ExitOK, outcome.ExitDefects, outcome.ExitUsage, outcome.ExitIncomplete} {
		if len(rows) != 4 || rows[i][1] != fmt.Sprint(status) {
			t.Fatalf("the help's exit table is %q", rows)
		}
		fmt.Fprintf(&out, "| %s | %s |\n", rows[i][1], rows[i][2])
	}
	return out.String()
}

func helpTexts(t *testing.T) string {
	var out strings.Builder
	for i, command := range []string{"", "guidance", "demo", "schema guidance"} {
		if i > 0 {
			out.WriteString("\n")
		}
		words := append(strings.Fields(command), "--help")
		heading := strings.TrimSpace("mcpeval " + command)
		fmt.Fprintf(&out, "## %s\n\n```text\n%s```\n", heading, mcpeval(t, 0, words...))
	}
	return out.String()
}

func exampleReport(t *testing.T) string {
	const command = "mcpeval demo --profile none --profile sampling --require-tool summarize-note --format json"
	if !strings.Contains(read(t, "docs/report.md"), "`"+command+"`") {
		t.Errorf("docs/report.md does not name the command of its example: %s", command)
	}
	return "```json\n" + mcpeval(t, outcome.ExitDefects, strings.Fields(command)[1:]...) + "```\n"
}

func exampleReportV2(t *testing.T) string {
	const command = "mcpeval demo --entry full --entry read-only --protocol 2025-06-18 --protocol 2026-07-28 " +
		"--profile none --profile sampling --references all --format json"
	if !strings.Contains(read(t, "docs/report.md"), "`"+command+"`") {
		t.Errorf("docs/report.md does not name the command of its example: %s", command)
	}
	return "```json\n" + mcpeval(t, 0, strings.Fields(command)[1:]...) + "```\n"
}

// clientTable names the well-known clients of each profile, and the mixed
// ones, which belong to none.
func clientTable(*testing.T) string {
	var out strings.Builder
	fmt.Fprintf(&out, "From %s, of %s.\n\n| Declares | Profile | Clients |\n|---|---|---|\n", profile.ClientsSource, profile.ClientsDate)
	for _, p := range profile.Every() {
		declares := string(p)
		switch p {
		case profile.None:
			declares = "none of the three"
		case profile.All:
			declares = "all three"
		}
		fmt.Fprintf(&out, "| %s | `%s` | %s |\n", declares, p, strings.Join(p.Clients(), ", "))
	}
	for _, m := range profile.MixedClients() {
		fmt.Fprintf(&out, "| %s |  | %s |\n", strings.Join(m.Capabilities, " and "), strings.Join(m.Clients, ", "))
	}
	return out.String()
}

// sentence makes a fixed text of the code a sentence of a page.
func sentence(text string) string {
	first, rest, _ := strings.Cut(text, " ")
	if regexp.MustCompile(`^[a-z]+$`).MatchString(first) {
		first = strings.ToUpper(first[:1]) + first[1:]
	}
	text = strings.TrimSpace(first + " " + rest)
	return strings.NewReplacer("<", `\<`, "*", `\*`, " _ ", ` \_ `).Replace(text) + "."
}

func diagnoses(t *testing.T) string {
	var out strings.Builder
	for _, e := range diagnosis.Entries() {
		fmt.Fprintf(&out, "- [`%s`](#%s): %s\n", e.Code, e.Code, e.Cause)
	}
	for _, e := range diagnosis.Entries() {
		fmt.Fprintf(&out, "\n## `%s`\n\n%s\n\n%s\n", e.Code, sentence(e.Cause), sentence(e.Advice))
		if len(e.Variants) > 0 {
			out.WriteString("\nMore exactly, where it is known:\n\n")
		}
		for _, v := range e.Variants {
			fmt.Fprintf(&out, "- **%s.** %s\n", v.Title, sentence(v.Advice))
		}
		alone := diagnosis.Diagnosis{Code: e.Code}.Advice()
		beside := diagnosis.Diagnosis{Code: e.Code, When: diagnosis.Beside}.Advice()
		if extra := strings.TrimPrefix(beside, alone+"; "); beside != alone {
			fmt.Fprintf(&out, "\n%s\n", sentence(extra))
		}
	}
	return out.String()
}

// TestReadmeCase renders the report on the reference server, whose counts and
// findings internal/e2e asserts against the server itself, and compares it
// with the README's, where only hints are shortened.
func TestReadmeCase(t *testing.T) {
	const text = "`echo` `get-roots-list` `trigger-elicitation-request` `trigger-sampling-request` `filler-1` `filler-2` `filler-3`"
	read := reference.NewExtractor(reference.Want{})
	var observations []observe.Observation
	for i, p := range profile.Every() {
		tools := []name.Name{"echo"}
		if p.DeclaresRoots() {
			tools = append(tools, "get-roots-list")
		}
		if p == profile.Elicitation || p == profile.All {
			tools = append(tools, "trigger-elicitation-request")
		}
		if p == profile.Sampling || p == profile.All {
			tools = append(tools, "trigger-sampling-request")
		}
		for k := 1; len(tools) < []int{13, 14, 14, 14, 16}[i]; k++ {
			tools = append(tools, name.Name(fmt.Sprintf("filler-%d", k)))
		}
		slices.Sort(tools)
		observations = append(observations, observe.Observation{
			Session: observe.Session{Protocol: protocol.Default, Profile: p}, Tools: tools, HasInstructions: true,
			Texts: &reference.Texts{Instructions: read.Text(text)},
		})
	}
	r := outcome.New(outcome.Info{Server: "everything", Required: []name.Name{"echo"}}, observations)
	want := string(render.Text(r, false))

	blocks, _ := fences(t, "README.md")
	for _, b := range blocks {
		command, output, _ := strings.Cut(b.text, "\n")
		if b.language != "console" || !strings.HasPrefix(command, "$ mcpeval guidance --server everything") {
			continue
		}
		hint := "  hint: " + r.Findings[0].Hint + "\n"
		short := regexp.MustCompile(`  hint: (.+) \[\.\.\.\]\n`)
		for _, m := range short.FindAllStringSubmatch(output, -1) {
			if !strings.HasPrefix(hint, "  hint: "+m[1]) {
				t.Errorf("README.md: the hint does not begin with %q", m[1])
			}
		}
		if diff := cmp.Diff(short.ReplaceAllLiteralString(output, hint), want); diff != "" {
			t.Errorf("README.md: the case is not as the report is printed (- README, + code):\n%s", diff)
		}
		return
	}
	t.Error("README.md shows no case")
}
