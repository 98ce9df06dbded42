package result

import (
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
)

// Counted is how much there was to compare: the verdict never says more than
// that (CONTRACT.md section 6).
type Counted struct {
	Named     []int // by session: known tools that its instructions name in the forms in force
	Tools     int   // distinct known tools that any session's instructions name in those forms
	Plain     int   // distinct known names that stand in instructions as plain words, while those do not count
	Described int   // distinct known tools that descriptions name, where those count
}

// Named returns how many known tools the instructions of the session of that
// index name, in the forms in force.
func (r Result) Named(i int) int {
	if i >= len(r.Counted.Named) {
		return 0
	}
	return r.Counted.Named[i]
}

// NamedTools returns how many known tools the instructions of all sessions
// name, in the forms in force.
func (r Result) NamedTools() int { return r.Counted.Tools }

// PlainWords returns how many known, unmistakable names stand in instructions
// as plain words, while those do not count as references.
func (r Result) PlainWords() int { return r.Counted.Plain }

// DescribedTools returns how many known tools descriptions name, where those
// count.
func (r Result) DescribedTools() int { return r.Counted.Described }

// count counts what there was to compare.
func count(info Info, m observe.Matrix) Counted {
	c := Counted{Named: make([]int, len(m.Observations))}
	named, plain, described := map[name.Name]bool{}, map[name.Name]bool{}, map[name.Name]bool{}
	for i, o := range m.Observations {
		if o.Texts == nil {
			continue
		}
		references := o.Texts.Instructions.Match(m.Names(), true, info.Words)
		c.Named[i] = len(references)
		for _, r := range references {
			named[r.Tool] = true
		}
		if !info.Words {
			for _, r := range o.Texts.Instructions.Match(m.Names(), false, true) {
				plain[r.Tool] = true
			}
		}
		if !info.Descriptions {
			continue
		}
		for of, text := range o.Texts.Descriptions() {
			for _, r := range text.Match(m.Names(), true, true) {
				if r.Tool != of {
					described[r.Tool] = true
				}
			}
		}
	}
	for tool := range plain {
		if !named[tool] {
			c.Plain++
		}
	}
	c.Tools, c.Described = len(named), len(described)
	return c
}
