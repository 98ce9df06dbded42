package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/org/mcpeval-guidance/internal/profile"
)

// Verdict is the report's first sentence: one fixed word and what it means.
func (r Report) Verdict() (word, sentence string) {
	candidates := 0
	for _, g := range r.Grouped(r.Candidates) {
		if !g.Acknowledged {
			candidates++
		}
	}
	switch {
	case !r.Complete:
		missing := 0
		for _, p := range r.Profiles {
			if p.Error != nil {
				missing++
			}
		}
		return "INCOMPLETE", fmt.Sprintf("%d of %s could not be discovered, so there is no verdict", missing, count(len(r.Profiles), "profile"))
	case len(r.Defects) > 0:
		return "FAILED", count(len(r.Grouped(r.Defects)), "required tool") + " missing in at least one profile"
	case candidates > 0:
		return "PASSED", count(candidates, "tool") + " to review: named in instructions for clients that do not get " + pick(candidates, "it", "them")
	case len(r.Candidates) > 0:
		return "PASSED", "every candidate has been acknowledged"
	case !slices.ContainsFunc(r.Profiles, func(p Profile) bool { return *p.InstructionsPresent }):
		return "PASSED", "the server gives no instructions, so there was nothing to compare"
	}
	return "PASSED", "the instructions name no tool that their clients do not get"
}

// lastWord ends every rendering: a candidate is no verdict.
const lastWord = "Candidates are for review and never fail the gate; only missing required tools do."

func count(n int, thing string) string { return fmt.Sprintf("%d %s", n, pick(n, thing, thing+"s")) }

func pick(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Text renders the report for a person at a terminal, in plain ASCII; colour
// adds ANSI codes to the verdict and the kinds of findings. No line begins
// with a name that a server chose: GitHub's runner would read a name such as
// ::error::x at the start of a line as a command.
func (r Report) Text(colour bool) []byte {
	var out bytes.Buffer
	paint := func(code, text string) string {
		if !colour {
			return text
		}
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	word, sentence := r.Verdict()
	code := map[string]string{"PASSED": "1;32", "FAILED": "1;31", "INCOMPLETE": "1;33"}[word]
	fmt.Fprintf(&out, "%s server %s: %s\n\n", paint(code, word), r.Server, sentence)

	fmt.Fprintf(&out, "%-12s %6s  %s\n", "profile", "tools", "instructions")
	for _, p := range r.Profiles {
		if p.Error != nil {
			fmt.Fprintf(&out, "%-12s %6s  %s%s\n", p.Profile, "-", *p.Error, p.diagnosed())
			continue
		}
		fmt.Fprintf(&out, "%-12s %6d  %s\n", p.Profile, len(p.Tools), yesNo(*p.InstructionsPresent))
	}
	section := func(title, code, lead string, findings []Finding) {
		if len(findings) == 0 {
			return
		}
		fmt.Fprintf(&out, "\n%s\n", paint(code, title))
		for _, g := range r.Grouped(findings) {
			mark := ""
			if g.Acknowledged {
				mark = " (acknowledged)"
			}
			fmt.Fprintf(&out, "- %s %s: %s%s\n", lead, g.Tool, g.Reason, mark)
			fmt.Fprintf(&out, "  missing for:  %s\n", List(g.Profiles))
			fmt.Fprintf(&out, "  available in: %s\n", List(g.AvailableIn))
			fmt.Fprintf(&out, "  hint: %s\n", g.Hint)
		}
	}
	section("defects", "1;31", "required tool", r.Defects)
	section("candidates", "1;33", "referenced tool", r.Candidates)
	if !r.Complete {
		out.WriteString("\nWithout every profile nothing is compared: mend what keeps discovery from completing, then run again.\n")
	}
	out.WriteString("\n" + lastWord + "\n")
	return out.Bytes()
}

func (p Profile) diagnosed() string {
	if p.Diagnosis == nil {
		return ""
	}
	return fmt.Sprintf(": %s at %s", p.Diagnosis.Code, p.Diagnosis.Stage)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Trouble is one diagnosis with the profiles that have it.
type Trouble struct {
	Profiles []profile.Profile
	Sentence string // code, stage, cause and advice
}

// Troubles joins the incomplete profiles by what ails them, in profile order.
func (r Report) Troubles() []Trouble {
	var troubles []Trouble
	index := map[string]int{}
	for _, p := range r.Profiles {
		if p.Diagnosis == nil {
			continue
		}
		d := *p.Diagnosis
		sentence := fmt.Sprintf("%s at %s: %s; %s", d.Code, d.Stage, d.Cause(), d.Advice())
		i, ok := index[sentence]
		if !ok {
			i = len(troubles)
			index[sentence] = i
			troubles = append(troubles, Trouble{Sentence: sentence})
		}
		troubles[i].Profiles = append(troubles[i].Profiles, p.Profile)
	}
	return troubles
}

// Remarks are the lines for stderr: every diagnosis with its advice, the
// notes, and acknowledged names that match nothing.
func (r Report) Remarks() []string {
	var lines []string
	for _, t := range r.Troubles() {
		lines = append(lines, "profile "+List(t.Profiles)+": "+t.Sentence)
	}
	for _, note := range r.Notes() {
		lines = append(lines, "note: "+note)
	}
	if stale := r.StaleAcknowledgements(); len(stale) > 0 {
		lines = append(lines, "note: acknowledged, but no candidate: "+strings.Join(stale, ", ")+"; take "+pick(len(stale), "it", "them")+" off the list")
	}
	return lines
}
