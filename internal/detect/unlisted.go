package detect

import "github.com/org/mcpeval-guidance/internal/observe"

// unlisted finds the names that a session's texts call for as tools and that
// no session lists (CONTRACT.md section 3.4).
var unlisted = &Rule{
	ID:    "unlisted-tool-named",
	Title: "Names that no session lists",
	Lead:  "unlisted name",
	Hint: Hint{
		Profiles: "No session lists a tool of this name: it may have been renamed or removed. Correct the name, or word it so that it does not read as a tool.",
		Sessions: "No session lists a tool of this name: it may have been renamed or removed. Correct the name, or word it so that it does not read as a tool.",
	},
	find: func(m observe.Matrix, s Settings) []Finding { return nil },
}
