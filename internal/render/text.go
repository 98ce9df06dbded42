package render

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/result"
)

// ANSI codes.
const (
	red    = "1;31"
	green  = "1;32"
	yellow = "1;33"
)

// Text renders a result for a person at a terminal, in plain ASCII; colour
// adds ANSI codes to the verdict and the kinds of findings. No line begins
// with a name that a server or a configuration file chose: GitHub's runner
// would read a name such as ::error::x at the start of a line as a command.
func Text(r result.Result, colour bool) []byte {
	v := newView(r)
	var out bytes.Buffer
	paint := func(code, text string) string {
		if !colour {
			return text
		}
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	word, sentence := v.verdict()
	code := map[string]string{Passed: green, Failed: red, Incomplete: yellow}[word]
	fmt.Fprintf(&out, "%s server %s: %s\n\n", paint(code, word), r.Server, sentence)
	v.table(&out)
	for _, rule := range detect.Rules() {
		groups := v.groups(rule)
		if len(groups) == 0 {
			continue
		}
		code := yellow
		if rule.Gate {
			code = red
		}
		fmt.Fprintf(&out, "\n%s\n", paint(code, rule.Kind))
		for _, g := range groups {
			v.textGroup(&out, rule, g)
		}
	}
	if !r.Complete {
		fmt.Fprintf(&out, "\nWithout every %s nothing is compared: mend what keeps discovery from completing, then run again.\n", v.word())
	}
	out.WriteString("\n" + lastWord + "\n")
	return out.Bytes()
}

// table writes a line a session.
func (v view) table(out *bytes.Buffer) {
	// The number comes first where there are names of entries: it is the
	// session's index in the JSON report.
	var head string
	var keys []string
	switch {
	case v.profilesOnly():
		head = fmt.Sprintf("%-12s", "profile")
		for _, o := range v.Matrix.Observations {
			keys = append(keys, fmt.Sprintf("%-12s", o.Session.Profile))
		}
	default:
		head, keys = v.keys()
	}
	titles := fmt.Sprintf("%s %6s %6s  %-12s", head, "tools", "named", "instructions")
	if v.profilesOnly() {
		titles += "  clients"
	}
	out.WriteString(strings.TrimRight(titles, " ") + "\n")
	for i, o := range v.Matrix.Observations {
		var line string
		switch {
		case o.Diagnosis != nil:
			line = fmt.Sprintf("%s %6s %6s  %s: %s", keys[i], "-", "-", incomplete, o.Diagnosis.Title())
		case v.profilesOnly():
			line = fmt.Sprintf("%s %6d %6d  %-12s  %s", keys[i], len(o.Tools), v.Named(i), yesNo(o.HasInstructions), clients(o.Session.Profile))
		default:
			line = fmt.Sprintf("%s %6d %6d  %s", keys[i], len(o.Tools), v.Named(i), yesNo(o.HasInstructions))
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if v.profilesOnly() {
		return
	}
	fmt.Fprintf(out, "\nclients that declare just what a profile does:\n")
	for _, p := range v.profiles {
		fmt.Fprintf(out, "%-12s %s\n", p, clients(p))
	}
}

// keys are the columns that tell sessions apart, and their heads.
func (v view) keys() (head string, rows []string) {
	columns := [][]string{{"session"}}
	for i := range v.Matrix.Observations {
		columns[0] = append(columns[0], strconv.Itoa(i))
	}
	column := func(head string, of func(observe.Session) string) {
		list := []string{head}
		for _, o := range v.Matrix.Observations {
			list = append(list, of(o.Session))
		}
		columns = append(columns, list)
	}
	if len(v.entries) > 1 {
		column("entry", func(s observe.Session) string { return string(s.Entry) })
	}
	if len(v.protocols) > 1 {
		column("protocol", func(s observe.Session) string { return string(s.Protocol) })
	}
	column("profile", func(s observe.Session) string { return string(s.Profile) })
	rows = make([]string, len(columns[0]))
	for _, list := range columns {
		width := 0
		for _, cell := range list {
			width = max(width, len(cell))
		}
		for i, cell := range list {
			rows[i] += fmt.Sprintf("%-*s  ", width, cell)
		}
	}
	for i := range rows {
		rows[i] = strings.TrimSuffix(rows[i], " ")
	}
	return rows[0], rows[1:]
}

// maxClients is how many clients are named beside a profile; the
// documentation names them all.
const maxClients = 3

// clients are well-known ones that declare just what the profile does.
func clients(p profile.Profile) string {
	all := p.Clients()
	said := strings.Join(all[:min(len(all), maxClients)], ", ")
	if more := len(all) - maxClients; more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	return said
}

// textGroup writes one tool's findings.
func (v view) textGroup(out *bytes.Buffer, rule *detect.Rule, g group) {
	mark := ""
	if g.acknowledged {
		mark = " (acknowledged)"
	}
	fmt.Fprintf(out, "- %s %s: %s%s\n", rule.Lead, g.tool, rule.ID, mark)
	for _, n := range g.named() {
		if v.Descriptions && n.kind != detect.NoText {
			fmt.Fprintf(out, "  named in:     %s\n", n.source(plainName))
		}
		fmt.Fprintf(out, "  %-13s %s\n", rule.Affects+":", v.inCommon(n.in))
	}
	fmt.Fprintf(out, "  available in: %s\n", v.inCommon(g.findings[0].AvailableIn))
	for _, hint := range g.hints() {
		fmt.Fprintf(out, "  hint: %s\n", hint)
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Session names a session for a line of progress.
func Session(s observe.Session) string {
	text := string(s.Profile)
	if s.Protocol != protocol.Default {
		text = string(s.Protocol) + " " + text
	}
	if s.Entry != "" {
		text = "entry " + string(s.Entry) + ", " + text
	}
	return text
}

// Progress says in words what goes on in a session.
func Progress(o *observe.Observation) string {
	switch {
	case o == nil:
		return "discovering"
	case o.Diagnosis != nil:
		return string(o.Diagnosis.Code)
	}
	return count(len(o.Tools), "tool")
}
