package detect

import (
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/reference"
)

// referenced finds the tools that a session's texts name, that this session
// does not list, and that another one lists (CONTRACT.md sections 3.1 and 3.4).
var referenced = &Rule{
	ID:      "referenced-tool-unavailable",
	Kind:    "candidates",
	Title:   "Candidates: review these mentions",
	Lead:    "referenced tool",
	Affects: "missing for",
	Alert:   "A text names a tool that some clients do not get",
	Says:    "{text} the tool {tool}, which some clients do not get.",
	Verdict: struct{ One, Many string }{
		"1 tool to review: named in {texts} for clients that do not get it",
		"{n} tools to review: named in {texts} for clients that do not get them",
	},
	Hint: Hint{
		Profiles:     "Check this reference: clients of this profile do not get the tool. State in the instructions which client capability it needs, or leave it out of the instructions for these clients.",
		Sessions:     "Check this reference: clients of these sessions do not get the tool. State in the instructions which configuration, protocol version or client capability it needs, or leave it out of the instructions for these clients.",
		Descriptions: "Check this description: clients of these sessions do not get the tool that it names. Say when the named tool exists, or leave the sentence out where it does not.",
	},
	find: func(m observe.Matrix, s Settings) []Finding {
		found := newCollection()
		for i, o := range m.Observations {
			take := func(source Source, references []reference.Reference) {
				for _, r := range references {
					if listing := m.Listing(r.Tool); !listing.Has(i) {
						found.add(i, r, source, listing)
					}
				}
			}
			if o.Texts == nil {
				continue
			}
			take(Source{Kind: Instructions}, o.Texts.Instructions.Match(m.Names(), true, s.Words))
			if !s.Descriptions {
				continue
			}
			for tool, text := range o.Texts.Descriptions() {
				take(Source{Kind: Description, Tool: tool}, text.Match(m.Names(), true, true))
			}
		}
		return found.findings
	},
}

// collection joins what sessions have in common: one finding for each tool and
// source.
type collection struct {
	findings []Finding
	index    map[key]int
}

type key struct {
	tool   name.Name
	source Source
}

func newCollection() *collection { return &collection{index: map[key]int{}} }

func (c *collection) add(session int, r reference.Reference, source Source, listing observe.Set) {
	k := key{r.Tool, source}
	i, ok := c.index[k]
	if !ok {
		i = len(c.findings)
		c.index[k] = i
		c.findings = append(c.findings, Finding{Tool: r.Tool, Source: source, AvailableIn: listing, Places: r.Places()})
	}
	c.findings[i].In = c.findings[i].In.With(session)
}
