// Package render makes what people and code hosts read out of a result: text,
// Markdown, annotations and SARIF. All of it is pure: from a result, and places
// in the user's repository, to bytes. It knows no rule by name, and must never
// print what is not a validated name, a fixed text, a number, or a path that
// it was given as a place.
package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/result"
)

// maxInstructions is where a widely used client cuts instructions, in
// characters (CONTRACT.md section 4.3).
const maxInstructions = 2048

// incomplete stands for a session without a catalog.
const incomplete = "profile-incomplete"

// lastWord ends every rendering: a candidate is no verdict.
const lastWord = "Candidates are for review and never fail the gate; only missing required tools do."

// The words of a verdict.
const (
	Passed     = "PASSED"
	Failed     = "FAILED"
	Incomplete = "INCOMPLETE"
)

// view is a result with what several renderings need of it.
type view struct {
	result.Result
	*sessions
}

func newView(r result.Result) view { return view{r, newSessions(r.Matrix)} }

// Verdict is the first sentence of a report: one fixed word and what it means,
// never more than was checked (CONTRACT.md section 6).
func Verdict(r result.Result) (word, sentence string) { return newView(r).verdict() }

func (v view) verdict() (word, sentence string) {
	if !v.Complete {
		missing := 0
		for _, o := range v.Matrix.Observations {
			if !o.Complete() {
				missing++
			}
		}
		return Incomplete, fmt.Sprintf("%d of %s could not be discovered, so there is no verdict", missing, count(len(v.Matrix.Observations), v.word()))
	}
	var failed, review []string
	for _, rule := range detect.Rules() {
		tools := 0
		for _, g := range v.groups(rule) {
			if !g.acknowledged {
				tools++
			}
		}
		if tools == 0 {
			continue
		}
		part := strings.NewReplacer("{n}", strconv.Itoa(tools), "{texts}", v.texts(), "{session}", v.word()).
			Replace(pick(tools, rule.Verdict.One, rule.Verdict.Many))
		if rule.Gate {
			failed = append(failed, part)
		} else {
			review = append(review, part)
		}
	}
	switch {
	case len(failed) > 0:
		return Failed, strings.Join(failed, "; ")
	case len(review) > 0:
		return Passed, strings.Join(review, "; ") + v.compared() + v.plain()
	case len(v.Findings) > 0:
		return Passed, "every candidate has been acknowledged" + v.compared() + v.plain()
	case v.NamedTools()+v.DescribedTools() > 0:
		return Passed, "the " + v.texts() + " name no tool that their clients do not get" + v.compared() + v.plain()
	case !v.Descriptions && !slices.ContainsFunc(v.Matrix.Observations, func(o observe.Observation) bool { return o.HasInstructions }):
		return Passed, "the server gives no instructions, so there was nothing to compare"
	}
	return Passed, "the " + v.texts() + " name no known tool in the forms that count, so there was nothing to compare" + v.plain()
}

// texts are those that were looked at.
func (v view) texts() string {
	if v.Descriptions {
		return "instructions and descriptions"
	}
	return "instructions"
}

// compared says, in brackets, how many known tools were compared.
func (v view) compared() string {
	switch {
	case v.NamedTools()+v.DescribedTools() == 0:
		return ""
	case v.Descriptions:
		return fmt.Sprintf(" (the instructions name %s, descriptions %d)", count(v.NamedTools(), "known tool"), v.DescribedTools())
	}
	return fmt.Sprintf(" (the instructions name %s)", count(v.NamedTools(), "known tool"))
}

// plain says that known names stand there in a form that does not count.
func (v view) plain() string {
	n := v.PlainWords()
	if n == 0 || v.Words {
		return ""
	}
	return fmt.Sprintf("; %s %s there as %s, which --references words (input references: words) looks at",
		count(n, "known name"), pick(n, "stands", "stand"), pick(n, "a plain word", "plain words"))
}

// group is all findings of one rule about one tool.
type group struct {
	tool         name.Name
	findings     []detect.Finding // at least one
	acknowledged bool
}

// groups joins a rule's findings by tool, in the order of the tools' names.
func (v view) groups(rule *detect.Rule) []group {
	var groups []group
	for _, f := range v.Of(rule) {
		if last := len(groups) - 1; last >= 0 && groups[last].tool == f.Tool {
			groups[last].findings = append(groups[last].findings, f)
			continue
		}
		groups = append(groups, group{f.Tool, []detect.Finding{f}, v.IsAcknowledged(f)})
	}
	return groups
}

// named is the findings of a group whose texts can be said together: of the
// instructions, or of descriptions that concern the same sessions.
type named struct {
	kind  detect.SourceKind
	tools []name.Name // whose descriptions they are
	in    observe.Set
	hint  string
}

// named joins the group's findings by text.
func (g group) named() []named {
	var all []named
	for _, f := range g.findings {
		at := slices.IndexFunc(all, func(n named) bool { return n.kind == f.Source.Kind && n.in == f.In })
		if at < 0 {
			at = len(all)
			all = append(all, named{kind: f.Source.Kind, in: f.In, hint: f.Hint})
		}
		if f.Source.Kind == detect.Description {
			all[at].tools = append(all[at].tools, f.Source.Tool)
		}
	}
	return all
}

// hints are the group's hints, each once.
func (g group) hints() []string {
	var hints []string
	for _, f := range g.findings {
		if !slices.Contains(hints, f.Hint) {
			hints = append(hints, f.Hint)
		}
	}
	return hints
}

// maxDescriptions is how many of the descriptions that name a tool are listed.
const maxDescriptions = 3

// source says which texts they are; quote writes a name.
func (n named) source(quote func(name.Name) string) string {
	if n.kind != detect.Description {
		return "the instructions"
	}
	if len(n.tools) == 1 {
		return "the description of " + quote(n.tools[0])
	}
	return count(len(n.tools), "description") + ": " + some(n.tools, maxDescriptions, quote)
}

// some writes the first most names, and how many more there are.
func some(names []name.Name, most int, quote func(name.Name) string) string {
	var list []string
	for _, n := range names[:min(len(names), most)] {
		list = append(list, quote(n))
	}
	said := strings.Join(list, ", ")
	if more := len(names) - most; more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	return said
}

func plainName(n name.Name) string { return string(n) }

func codeName(n name.Name) string { return "`" + string(n) + "`" }

// sentence is what is wrong, of one finding.
func sentence(f detect.Finding) string {
	text := ""
	switch f.Source.Kind {
	case detect.Instructions:
		text = "The instructions name"
	case detect.Description:
		text = "The description of " + string(f.Source.Tool) + " names"
	}
	return strings.NewReplacer("{tool}", string(f.Tool), "{text}", text).Replace(f.Rule.Says)
}

// where is a finding's sessions and those that have the tool, as sentences.
func (v view) where(f detect.Finding) string {
	affects := strings.ToUpper(f.Rule.Affects[:1]) + f.Rule.Affects[1:]
	return fmt.Sprintf("%s: %s. Available in: %s.", affects, v.within(f.In), v.within(f.AvailableIn))
}

// Trouble is one cause with the sessions that it kept from completing.
type Trouble struct {
	In       observe.Set
	Code     diagnosis.Code
	Sentence string // title, cause and advice
}

// Troubles joins the incomplete sessions by what ails them, in their order.
func Troubles(r result.Result) []Trouble {
	var troubles []Trouble
	index := map[string]int{}
	for i, o := range r.Matrix.Observations {
		if o.Diagnosis == nil {
			continue
		}
		d := *o.Diagnosis
		sentence := fmt.Sprintf("%s: %s; %s", d.Title(), d.Cause(), d.Advice())
		at, ok := index[sentence]
		if !ok {
			at = len(troubles)
			index[sentence] = at
			troubles = append(troubles, Trouble{Code: d.Code, Sentence: sentence})
		}
		troubles[at].In = troubles[at].In.With(i)
	}
	return troubles
}

// Notes are remarks on sessions that deserve attention (CONTRACT.md section
// 4.3), one sentence each, of fixed words and numbers.
func Notes(r result.Result) []string { return newView(r).notes() }

func (v view) notes() []string {
	var notes []string
	var without, noisy, long observe.Set
	lines, shortest, longest := 0, 0, 0
	for i, o := range v.Matrix.Observations {
		if o.NoTools {
			without = without.With(i)
		}
		if o.Noise > 0 {
			lines += o.Noise
			noisy = noisy.With(i)
		}
		if o.Characters > maxInstructions {
			if long.Empty() {
				shortest = o.Characters
			}
			shortest, longest = min(shortest, o.Characters), max(longest, o.Characters)
			long = long.With(i)
		}
	}
	switch without {
	case 0:
	case v.Matrix.Everyone():
		notes = append(notes, "the server declares no tools capability in any selected "+v.word()+": every catalog is empty")
	default:
		notes = append(notes, fmt.Sprintf("the server declares no tools capability in %s: the catalog there is empty", v.inBrackets(without)))
	}
	if lines > 0 {
		notes = append(notes, fmt.Sprintf("%d %s (%s): logs belong on stderr",
			lines, pick(lines, "line on stdout was no MCP message", "lines on stdout were no MCP messages"), v.within(noisy)))
	}
	if longest > 0 {
		many := thousands(longest)
		if shortest < longest {
			many = thousands(shortest) + " to " + many
		}
		notes = append(notes, fmt.Sprintf("the instructions have %s characters (%s): a widely used client cuts them at %s",
			many, v.within(long), thousands(maxInstructions)))
	}
	return notes
}

// inBrackets is a set in a sentence that goes on after a colon.
func (v view) inBrackets(set observe.Set) string {
	if v.profilesOnly() {
		return v.within(set)
	}
	return "some sessions (" + v.inCommon(set) + ")"
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// Remarks are the lines for stderr: every cause of incomplete sessions with
// its advice, the notes, and acknowledged names that match nothing.
func Remarks(r result.Result) []string {
	v := newView(r)
	var lines []string
	for _, t := range Troubles(r) {
		lines = append(lines, v.troubled(t.In)+": "+t.Sentence)
	}
	for _, note := range v.notes() {
		lines = append(lines, "note: "+note)
	}
	if stale := r.StaleAcknowledgements(); len(stale) > 0 {
		lines = append(lines, "note: acknowledged, but no candidate: "+some(stale, len(stale), plainName)+"; take "+pick(len(stale), "it", "them")+" off the list")
	}
	return lines
}
