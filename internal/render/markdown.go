package render

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/result"
)

// maxMarkdown keeps the summary under GitHub's limit of 1 MiB for one step,
// with room for what other tools of the step may write.
const maxMarkdown = 900 << 10

// maxOpenRows is how many rows of the tool-by-session table are shown without
// a click, and maxOpenColumns how many columns have their sessions as heads.
const (
	maxOpenRows    = 40
	maxOpenColumns = 6
)

// Markdown renders a result for the job summary: the verdict, the settings,
// the sessions, a tool-by-session table of what differs, and the findings with
// what to do. Names stand in code spans, whose grammar has no tick.
func Markdown(r result.Result) []byte {
	v := newView(r)
	var out bytes.Buffer
	word, sentence := v.verdict()
	icon := map[string]string{Passed: "✅", Failed: "❌", Incomplete: "⚠️"}[word]
	fmt.Fprintf(&out, "## %s MCP guidance: `%s`\n\n**%s**: %s.\n", icon, r.Server, word, sentence)

	var remarks []string
	for _, t := range Troubles(r) {
		code, rest, _ := strings.Cut(t.Sentence, " ")
		where := v.troubled(t.In)
		remarks = append(remarks, fmt.Sprintf("- **%s**: `%s` %s.\n", strings.ToUpper(where[:1])+where[1:], code, rest))
	}
	for _, note := range v.notes() {
		remarks = append(remarks, fmt.Sprintf("- **Note**: %s.\n", note))
	}
	if stale := r.StaleAcknowledgements(); len(stale) > 0 {
		remarks = append(remarks, fmt.Sprintf("- **Note**: acknowledged, but no candidate: %s.\n", names(stale)))
	}
	if len(remarks) > 0 {
		out.WriteString("\n" + strings.Join(remarks, ""))
	}
	v.settings(&out)
	v.sessionTable(&out)
	if r.Complete {
		findings := v.findings()
		v.toolTable(&out, maxMarkdown-len(findings))
		out.Write(findings)
		out.WriteString("\n" + lastWord + "\n")
	}
	return out.Bytes()
}

// maxNames is how many names are listed in a sentence.
const maxNames = 50

func names(list []name.Name) string { return some(list, maxNames, codeName) }

// settings writes what the run was asked for, folded.
func (v view) settings(out *bytes.Buffer) {
	list := func(title string, list []string) { fmt.Fprintf(out, "- %s: %s\n", title, strings.Join(list, ", ")) }
	out.WriteString("\n<details><summary>Settings</summary>\n\n")
	if len(v.entries) > 1 || v.entries[0] != "" {
		list("entries", texts(v.entries, codeName))
	}
	list(pick(len(v.protocols), "protocol version", "protocol versions"), texts(v.protocols, func(p protocol.Version) string { return string(p) }))
	list("profiles", texts(v.profiles, func(p profile.Profile) string { return string(p) }))
	references := []string{"code"}
	for _, row := range []struct {
		on   bool
		name string
	}{{v.Words, "words"}, {v.Descriptions, "descriptions"}, {v.Unlisted, "unlisted"}} {
		if row.on {
			references = append(references, row.name)
		}
	}
	list("references", references)
	fmt.Fprintf(out, "- settle window: %d ms\n- timeout: %d ms a %s\n", v.SettleMS, v.TimeoutMS, v.word())
	if v.Jobs > 0 {
		fmt.Fprintf(out, "- jobs: %d\n", v.Jobs)
	}
	required := "none"
	if len(v.Required) > 0 {
		required = names(v.Required)
	}
	fmt.Fprintf(out, "- required tools: %s\n", required)
	if len(v.Acknowledged) > 0 {
		fmt.Fprintf(out, "- acknowledged: %s\n", names(v.Acknowledged))
	}
	fmt.Fprintf(out, "- mcpeval: `%s`\n\n</details>\n", v.Version)
}

func texts[T any](list []T, text func(T) string) []string {
	var out []string
	for _, value := range list {
		out = append(out, text(value))
	}
	return out
}

// sessionTable writes a row a session.
func (v view) sessionTable(out *bytes.Buffer) {
	type column struct {
		head, rule string
		cell       func(i int, o observe.Observation) string
	}
	var columns []column
	add := func(head, rule string, cell func(int, observe.Observation) string) {
		columns = append(columns, column{head, rule, cell})
	}
	if !v.profilesOnly() {
		add("session", "---:", func(i int, _ observe.Observation) string { return fmt.Sprint(i) })
	}
	if len(v.entries) > 1 {
		add("entry", "---", func(_ int, o observe.Observation) string { return codeName(o.Session.Entry) })
	}
	if len(v.protocols) > 1 {
		add("protocol", "---", func(_ int, o observe.Observation) string { return string(o.Session.Protocol) })
	}
	add("profile", "---", func(_ int, o observe.Observation) string { return string(o.Session.Profile) })
	discovered := func(text func(int, observe.Observation) string) func(int, observe.Observation) string {
		return func(i int, o observe.Observation) string {
			if !o.Complete() {
				return "–"
			}
			return text(i, o)
		}
	}
	add("tools", "---:", discovered(func(_ int, o observe.Observation) string { return fmt.Sprint(len(o.Tools)) }))
	add("named", "---:", discovered(func(i int, _ observe.Observation) string { return fmt.Sprint(v.Named(i)) }))
	add("instructions", "---", func(_ int, o observe.Observation) string {
		if o.Diagnosis != nil {
			return "`" + incomplete + "`: " + o.Diagnosis.Title()
		}
		return yesNo(o.HasInstructions)
	})
	add("clients", "---", func(_ int, o observe.Observation) string { return clients(o.Session.Profile) })

	title := "Profiles"
	if !v.profilesOnly() {
		title = "Sessions"
	}
	fmt.Fprintf(out, "\n### %s\n\n|", title)
	folded := len(v.Matrix.Observations) > maxOpenRows
	if folded {
		out.Truncate(out.Len() - 1)
		fmt.Fprintf(out, "<details><summary>%d sessions</summary>\n\n|", len(v.Matrix.Observations))
	}
	rule := "|"
	for _, c := range columns {
		fmt.Fprintf(out, " %s |", c.head)
		rule += c.rule + "|"
	}
	out.WriteString("\n" + rule + "\n")
	for i, o := range v.Matrix.Observations {
		out.WriteString("|")
		for _, c := range columns {
			fmt.Fprintf(out, " %s |", c.cell(i, o))
		}
		out.WriteString("\n")
	}
	if folded {
		out.WriteString("\n</details>\n")
	}
	out.WriteString("\n*named*: known tools that the instructions name. *clients*: well-known ones that declare just what the profile does (" +
		profile.ClientsSource + ", " + profile.ClientsDate + ").\n")
}

// findings renders the findings of each rule by tool, in at most two thirds of
// the summary: the table above them needs room, too.
func (v view) findings() []byte {
	var out bytes.Buffer
	for _, rule := range detect.Rules() {
		groups := v.groups(rule)
		if len(groups) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n### %s\n\n", rule.Title)
		for _, hint := range hintsOf(groups) {
			fmt.Fprintf(&out, "`%s`: %s\n\n", rule.ID, hint)
		}
		for i, g := range groups {
			row := v.row(rule, g)
			if out.Len()+len(row) > maxMarkdown*2/3 {
				fmt.Fprintf(&out, "- … and %d more: see the JSON report\n", len(groups)-i)
				break
			}
			out.WriteString(row)
		}
	}
	return out.Bytes()
}

// hintsOf are the hints of a rule's findings, each once.
func hintsOf(groups []group) []string {
	var hints []string
	for _, g := range groups {
		for _, hint := range g.hints() {
			if !slices.Contains(hints, hint) {
				hints = append(hints, hint)
			}
		}
	}
	return hints
}

// row is one tool's findings.
func (v view) row(rule *detect.Rule, g group) string {
	mark := ""
	if g.acknowledged {
		mark = " (acknowledged)"
	}
	var parts []string
	for _, n := range g.named() {
		in := ""
		if v.Descriptions && n.kind != detect.NoText {
			in = ", named in " + n.source(codeName)
		}
		parts = append(parts, rule.Affects+" "+v.span(n.in)+in)
	}
	return fmt.Sprintf("- `%s`%s: %s; available in %s\n", g.tool, mark, strings.Join(parts, "; "), v.span(g.findings[0].AvailableIn))
}

// span is a set in Markdown: the labels of entries can hold any character of
// the grammar, so what names them is code.
func (v view) span(set observe.Set) string {
	said := v.inCommon(set)
	if len(v.entries) > 1 {
		return "`" + said + "`"
	}
	return said
}

// toolTable writes the tool-by-session table of every tool that is required,
// referenced but missing, or not in all sessions, until out holds limit bytes.
// Sessions with the same column share one. The names come last: long ones
// would push the columns out of sight. A long table is folded, so that it does
// not hide the findings below it.
func (v view) toolTable(out *bytes.Buffer, limit int) {
	tools := v.differing()
	if len(tools) == 0 {
		return
	}
	columns := v.columns(tools)
	heads := make([]string, len(columns))
	for i, set := range columns {
		heads[i] = v.span(set)
	}
	title := "Tools by profile"
	if !v.profilesOnly() {
		title = "Tools by session"
	}
	fmt.Fprintf(out, "\n### %s\n\n", title)
	if len(tools) > maxOpenRows {
		fmt.Fprintf(out, "<details><summary>%d tools</summary>\n\n", len(tools))
		defer out.WriteString("\n</details>\n")
	}
	if len(columns) > maxOpenColumns {
		for i, head := range heads {
			fmt.Fprintf(out, "- %c: %s\n", letter(i), head)
			heads[i] = string(letter(i))
		}
		out.WriteString("\n")
	}
	fmt.Fprintf(out, "| %s | tool |\n|%s---|\n", strings.Join(heads, " | "), strings.Repeat(":-:|", len(heads)))
	for i, tool := range tools {
		row := "|"
		for _, set := range columns {
			cell := "–"
			if v.Matrix.Listing(tool).Has(set.First()) {
				cell = "✓"
			}
			row += " " + cell + " |"
		}
		row += fmt.Sprintf(" `%s` |", tool)
		if out.Len()+len(row) > limit {
			fmt.Fprintf(out, "\n… and %d more: see the JSON report.\n", len(tools)-i)
			return
		}
		out.WriteString(row + "\n")
	}
}

// letter is the head of the i-th column: A to Z, then a to z, then what
// follows; there are at most 60.
func letter(i int) rune {
	switch {
	case i < 26:
		return rune('A' + i)
	case i < 52:
		return rune('a' + i - 26)
	}
	return rune('1' + i - 52)
}

// columns are the sessions by what they list of the tools. Profiles stand
// alone where nothing else differs.
func (v view) columns(tools []name.Name) []observe.Set {
	var columns []observe.Set
	for i := range v.Matrix.Observations {
		at := -1
		if !v.profilesOnly() {
			at = slices.IndexFunc(columns, func(set observe.Set) bool {
				return !slices.ContainsFunc(tools, func(tool name.Name) bool {
					listing := v.Matrix.Listing(tool)
					return listing.Has(i) != listing.Has(set.First())
				})
			})
		}
		if at < 0 {
			at = len(columns)
			columns = append(columns, 0)
		}
		columns[at] = columns[at].With(i)
	}
	return columns
}

// differing are the tools of the table: what fails the check first, then what
// wants review, then the rest.
func (v view) differing() []name.Name {
	const fails, review, rest = 0, 1, 2
	weight := map[name.Name]int{}
	for _, tool := range v.Required {
		weight[tool] = rest
	}
	for tool, in := range v.Matrix.Known() {
		if in != v.Matrix.Everyone() {
			weight[tool] = rest
		}
	}
	for _, f := range v.Findings {
		if at, ok := weight[f.Tool]; ok && f.Rule.Gate {
			weight[f.Tool] = fails
		} else if ok {
			weight[f.Tool] = min(at, review)
		}
	}
	tools := make([]name.Name, 0, len(weight))
	for tool := range weight {
		tools = append(tools, tool)
	}
	slices.SortFunc(tools, func(a, b name.Name) int {
		return cmp.Or(cmp.Compare(weight[a], weight[b]), cmp.Compare(a, b))
	})
	return tools
}
