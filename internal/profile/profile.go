// Package profile holds the client capability profiles as data: what an MCP
// client of each kind declares in its initialize request. It must never hold
// behaviour: everything that differs between profiles is in this table.
package profile

// Profile names one client capability profile. Its text is public interface:
// it is the value of --profile and of the report's "profile" keys.
type Profile string

// The five profiles, named for the capabilities they declare.
const (
	None        Profile = "none"
	Roots       Profile = "roots"
	Sampling    Profile = "sampling"
	Elicitation Profile = "elicitation"
	All         Profile = "all"
)

// table has one row a profile, in report order, with the exact JSON of the
// capabilities that it declares (CONTRACT.md sections 4.1 and 4.8).
var table = []struct {
	profile    Profile
	initialize string // up to 2025-11-25: initialize.params.capabilities
	stateless  string // 2026-07-28, where roots has no listChanged: _meta of every request
}{
	{None, `{}`, `{}`},
	{Roots, `{"roots":{"listChanged":false}}`, `{"roots":{}}`},
	{Sampling, `{"sampling":{}}`, `{"sampling":{}}`},
	{Elicitation, `{"elicitation":{}}`, `{"elicitation":{}}`},
	{All, `{"roots":{"listChanged":false},"sampling":{},"elicitation":{}}`, `{"roots":{},"sampling":{},"elicitation":{}}`},
}

// Every returns the five profiles in report order.
func Every() []Profile {
	every := make([]Profile, len(table))
	for i, row := range table {
		every[i] = row.profile
	}
	return every
}

// Parse returns the profile of that exact name.
func Parse(name string) (Profile, bool) {
	for _, row := range table {
		if string(row.profile) == name {
			return row.profile, true
		}
	}
	return "", false
}

// Capabilities returns the JSON object that the profile declares, in a
// stateless protocol version or in one with initialize.
func (p Profile) Capabilities(stateless bool) string {
	for _, row := range table {
		switch {
		case row.profile != p:
		case stateless:
			return row.stateless
		default:
			return row.initialize
		}
	}
	return ""
}

// DeclaresRoots reports whether the server may ask the profile for roots/list.
func (p Profile) DeclaresRoots() bool { return p == Roots || p == All }
