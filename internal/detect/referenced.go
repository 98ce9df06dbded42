package detect

import "github.com/org/mcpeval-guidance/internal/observe"

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
	find: func(m observe.Matrix, s Settings) []Finding { return nil },
}
