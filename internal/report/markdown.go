package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/org/mcpeval-guidance/internal/profile"
)

// maxMarkdown keeps the summary under GitHub's limit of 1 MiB for one step,
// with room for what other tools of the step may write.
const maxMarkdown = 900 << 10

// maxOpenRows is how many rows of the tool-by-profile table are shown without
// a click.
const maxOpenRows = 40

// Markdown renders the report for the job summary: the verdict, the settings,
// the profiles, a tool-by-profile table of what differs, and the findings
// with what to do. Names stand in code spans, whose grammar has no tick.
func (r Report) Markdown() []byte {
	var out bytes.Buffer
	word, sentence := r.Verdict()
	icon := map[string]string{"PASSED": "✅", "FAILED": "❌", "INCOMPLETE": "⚠️"}[word]
	fmt.Fprintf(&out, "## %s MCP guidance: `%s`\n\n**%s**: %s.\n", icon, r.Server, word, sentence)

	var remarks []string
	for _, t := range r.Troubles() {
		remarks = append(remarks, fmt.Sprintf("- **Profile %s**: %s.\n", List(t.Profiles), code(t.Sentence)))
	}
	for _, note := range r.Notes() {
		remarks = append(remarks, fmt.Sprintf("- **Note**: %s.\n", note))
	}
	if stale := r.StaleAcknowledgements(); len(stale) > 0 {
		remarks = append(remarks, fmt.Sprintf("- **Note**: acknowledged, but no candidate: %s.\n", names(stale)))
	}
	if len(remarks) > 0 {
		out.WriteString("\n" + strings.Join(remarks, ""))
	}
	r.settings(&out)
	out.WriteString("\n### Profiles\n\n| profile | tools | instructions |\n|---|---:|---|\n")
	for _, p := range r.Profiles {
		if p.Error != nil {
			fmt.Fprintf(&out, "| %s | – | `%s`%s |\n", p.Profile, *p.Error, p.diagnosed())
			continue
		}
		fmt.Fprintf(&out, "| %s | %d | %s |\n", p.Profile, len(p.Tools), yesNo(*p.InstructionsPresent))
	}
	if r.Complete {
		findings := r.findings()
		r.matrix(&out, maxMarkdown-len(findings))
		out.Write(findings)
		out.WriteString("\n" + lastWord + "\n")
	}
	return out.Bytes()
}

// settings writes what the run was asked for, folded.
func (r Report) settings(out *bytes.Buffer) {
	required := "none"
	if len(r.RequiredTools) > 0 {
		required = names(r.RequiredTools)
	}
	fmt.Fprintf(out, "\n<details><summary>Settings</summary>\n\n- protocol version: %s\n- profiles: %s\n- settle window: %d ms\n", r.ProtocolVersion, r.selected(), r.SettleMS)
	fmt.Fprintf(out, "- timeout: %d ms a profile\n- jobs: %d\n- required tools: %s\n", r.TimeoutMS, r.Jobs, required)
	if len(r.Acknowledged) > 0 {
		fmt.Fprintf(out, "- acknowledged: %s\n", names(r.Acknowledged))
	}
	fmt.Fprintf(out, "- mcpeval: `%s`\n\n</details>\n", r.Generator.Version)
}

// findings renders the defects and the candidates by tool, in at most two
// thirds of the summary: the table above them needs room, too.
func (r Report) findings() []byte {
	var out bytes.Buffer
	section := func(title string, findings []Finding) {
		if len(findings) == 0 {
			return
		}
		fmt.Fprintf(&out, "\n### %s\n\n`%s`: %s\n\n", title, findings[0].Reason, findings[0].Hint)
		groups := r.Grouped(findings)
		for i, g := range groups {
			mark := ""
			if g.Acknowledged {
				mark = " (acknowledged)"
			}
			row := fmt.Sprintf("- `%s`%s: missing for %s; available in %s\n", g.Tool, mark, List(g.Profiles), List(g.AvailableIn))
			if out.Len()+len(row) > maxMarkdown*2/3 {
				fmt.Fprintf(&out, "- … and %d more: see the JSON report\n", len(groups)-i)
				break
			}
			out.WriteString(row)
		}
	}
	section("Defects: required tools that are missing", r.Defects)
	section("Candidates: review these mentions in the instructions", r.Candidates)
	return out.Bytes()
}

// matrix writes the tool-by-profile table of every tool that is required,
// referenced but missing, or not in all profiles, until out holds limit bytes.
// The names come last: long ones would push the profiles out of sight. A long
// table is folded, so that it does not hide the findings below it.
func (r Report) matrix(out *bytes.Buffer, limit int) {
	listed := map[string]map[profile.Profile]bool{}
	mark := func(tool string) map[profile.Profile]bool {
		if listed[tool] == nil {
			listed[tool] = map[profile.Profile]bool{}
		}
		return listed[tool]
	}
	for _, tool := range r.RequiredTools {
		mark(tool)
	}
	for _, p := range r.Profiles {
		for _, tool := range p.Tools {
			mark(tool)[p.Profile] = true
		}
	}
	var rows []string
	for tool, in := range listed {
		if _, required := slices.BinarySearch(r.RequiredTools, tool); required || len(in) < len(r.Profiles) {
			rows = append(rows, tool)
		}
	}
	if len(rows) == 0 {
		return
	}
	// What fails the check first, then what wants review, then the rest.
	rank := map[string]int{}
	for _, f := range r.Candidates {
		rank[f.Tool] = -1
	}
	for _, f := range r.Defects {
		rank[f.Tool] = -2
	}
	slices.SortFunc(rows, func(a, b string) int {
		if d := rank[a] - rank[b]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	out.WriteString("\n### Tools by profile\n\n")
	if len(rows) > maxOpenRows {
		fmt.Fprintf(out, "<details><summary>%d tools</summary>\n\n", len(rows))
		defer out.WriteString("\n</details>\n")
	}
	out.WriteString("|")
	rule := "|"
	for _, p := range r.Profiles {
		fmt.Fprintf(out, " %s |", p.Profile)
		rule += ":-:|"
	}
	out.WriteString(" tool |\n" + rule + "---|\n")
	for i, tool := range rows {
		row := "|"
		for _, p := range r.Profiles {
			cell := "–"
			if listed[tool][p.Profile] {
				cell = "✓"
			}
			row += " " + cell + " |"
		}
		row += fmt.Sprintf(" `%s` |", tool)
		if out.Len()+len(row) > limit {
			fmt.Fprintf(out, "\n… and %d more: see the JSON report.\n", len(rows)-i)
			return
		}
		out.WriteString(row + "\n")
	}
}

func (r Report) selected() string {
	list := make([]profile.Profile, len(r.Profiles))
	for i, p := range r.Profiles {
		list[i] = p.Profile
	}
	return List(list)
}

// names writes at most fifty names as code.
func names(list []string) string {
	const most = 50
	var out []string
	for i, name := range list {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		out = append(out, "`"+name+"`")
	}
	return strings.Join(out, ", ")
}

// code sets the diagnosis code, the sentence's first word, as code.
func code(sentence string) string {
	first, rest, _ := strings.Cut(sentence, " ")
	return "`" + first + "` " + rest
}
