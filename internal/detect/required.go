package detect

import "github.com/org/mcpeval-guidance/internal/observe"

// required finds the tools that were required and that a session does not
// list: defects (CONTRACT.md section 3.1).
var required = &Rule{
	ID:      "required-tool-unavailable",
	Kind:    "defects",
	Title:   "Defects: required tools that are missing",
	Lead:    "required tool",
	Affects: "missing for",
	Alert:   "Required tool is missing for some clients",
	Says:    "The required tool {tool} is not listed for every client.",
	Verdict: struct{ One, Many string }{
		"1 required tool missing in at least one {session}",
		"{n} required tools missing in at least one {session}",
	},
	Hint: Hint{
		Profiles: "This tool is required in every selected profile: register it for clients of this profile too, check its spelling if no profile lists it, or select only the profiles that get it.",
		Sessions: "This tool is required in every session: register it in these sessions too, check its spelling if no session lists it, or select only the sessions that get it.",
	},
	Gate: true,
	find: func(m observe.Matrix, s Settings) []Finding {
		var found []Finding
		for _, tool := range s.Required {
			listing := m.Listing(tool)
			if missing := m.Everyone() &^ listing; !missing.Empty() {
				found = append(found, Finding{Tool: tool, In: missing, AvailableIn: listing})
			}
		}
		return found
	},
}
