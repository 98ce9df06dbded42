// Package detect compares what was observed: what the texts name against the
// catalogs. A rule is a value, one file each; what differs between rules is in
// the value, so that reports loop over rules and know none of them. It is
// pure: it must never do I/O, read a clock or hold a context.
package detect

import (
	"cmp"
	"slices"

	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/reference"
)

// Rule is one kind of finding. All texts are fixed, ours and plain ASCII.
type Rule struct {
	// ID is the finding's reason. It is public interface.
	ID string
	// Kind is the plural word for the rule's findings.
	Kind string
	// Title is the heading of the rule's findings, for people.
	Title string
	// Lead stands before the tool's name in a line of text, so that no line
	// begins with what a server chose.
	Lead string
	// Affects stands before the affected sessions: what they lack or have.
	Affects string
	// Alert is what is wrong, in a few words, where a finding stands alone.
	Alert string
	// Says is what is wrong, a sentence about {tool}; {text} is who names it,
	// such as "the instructions name".
	Says string
	// Verdict says in the first line of a report how many tools, {n}, have
	// findings of the rule; {texts} are those that were looked at, and
	// {session} is what is compared.
	Verdict struct{ One, Many string }
	// Hint is what to do, a fixed sentence.
	Hint Hint
	// Gate says that a finding fails the check.
	Gate bool

	find func(observe.Matrix, Settings) []Finding
}

// Hint is the fixed sentences of a rule that say what to do.
type Hint struct {
	Profiles     string // where profiles alone are compared: frozen with mcpeval.guidance-report/v1
	Sessions     string // where configurations or protocol versions are compared too
	Descriptions string // for a name in a tool's description; empty where the same is to be done
}

func (h Hint) of(s Settings, kind SourceKind) string {
	switch {
	case kind == Description && h.Descriptions != "":
		return h.Descriptions
	case s.Sessions:
		return h.Sessions
	}
	return h.Profiles
}

// Settings are what the rules are asked for.
type Settings struct {
	Required                      []name.Name // sorted, unique
	Words, Descriptions, Unlisted bool        // CONTRACT.md section 3.4
	// Sessions says that more than profiles is compared: several
	// configurations, or other protocol versions than the default alone.
	Sessions bool
}

// Finding is one tool that something is wrong with, in one text.
type Finding struct {
	Rule        *Rule
	Tool        name.Name
	Source      Source
	In          observe.Set // the affected sessions, at least one
	AvailableIn observe.Set // the sessions that list the tool
	// Places are where the texts name the tool: they find the line in the
	// user's repository and go nowhere else.
	Places []reference.Context
	Hint   string // what to do, a fixed sentence
}

// Source is the text that a finding is about.
type Source struct {
	Kind SourceKind
	Tool name.Name // of a description: whose it is
}

// SourceKind is a kind of text.
type SourceKind int

// The kinds, in the order of the report.
const (
	NoText SourceKind = iota // of a defect
	Instructions
	Description
)

// Rules returns the rules in the order of a report: those that fail the check
// first.
func Rules() []*Rule { return []*Rule{required, referenced, unlisted} }

// Find applies every rule to a complete matrix. Findings are ordered by rule,
// then by tool, then by source: instructions first, then descriptions by their
// tool, all bytewise (CONTRACT.md section 3.3).
func Find(m observe.Matrix, s Settings) []Finding {
	var all []Finding
	for _, rule := range Rules() {
		found := rule.find(m, s)
		for i := range found {
			found[i].Rule, found[i].Hint = rule, rule.Hint.of(s, found[i].Source.Kind)
		}
		slices.SortFunc(found, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Source.Kind, b.Source.Kind), cmp.Compare(a.Source.Tool, b.Source.Tool))
		})
		all = append(all, found...)
	}
	return all
}

// Affected is the set of sessions that any finding is about.
func Affected(findings []Finding) observe.Set {
	var set observe.Set
	for _, f := range findings {
		set |= f.In
	}
	return set
}
