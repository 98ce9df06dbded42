package detect

import "github.com/org/mcpeval-guidance/internal/observe"

// unlisted finds the names that a session's texts call for as tools and that
// no session lists (CONTRACT.md section 3.4).
var unlisted = &Rule{
	ID:      "unlisted-tool-named",
	Kind:    "unlisted names",
	Title:   "Unlisted names: review what the texts call for",
	Lead:    "unlisted name",
	Affects: "named for",
	Alert:   "A text calls for a tool that no session lists",
	Says:    "{text} {tool} as a tool, but no session lists it.",
	Verdict: struct{ One, Many string }{
		"1 name to review: called for in {texts}, but listed in no session",
		"{n} names to review: called for in {texts}, but listed in no session",
	},
	Hint: Hint{
		Profiles: "No session lists a tool of this name: it may have been renamed or removed. Correct the name, or word it so that it does not read as a tool.",
		Sessions: "No session lists a tool of this name: it may have been renamed or removed. Correct the name, or word it so that it does not read as a tool.",
	},
	find: func(m observe.Matrix, s Settings) []Finding {
		if !s.Unlisted {
			return nil
		}
		found := newCollection()
		for i, o := range m.Observations {
			for _, c := range o.Texts.Unlisted(m.Names(), o.Tools, s.Descriptions) {
				source := Source{Kind: Instructions}
				if c.Of != "" {
					source = Source{Kind: Description, Tool: c.Of}
				}
				found.add(i, c.Reference, source, 0)
			}
		}
		return found.findings
	},
}
