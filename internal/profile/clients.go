package profile

// Where the tables of clients come from: facts of the npm package
// mcp-client-capabilities (Apache-2.0), an index of what MCP clients declare.
const (
	ClientsSource = "npm mcp-client-capabilities 0.0.14"
	ClientsDate   = "2026-03-23"
)

// clients are the well-known clients that declare just what a profile does,
// those that most people have first.
var clients = map[Profile][]string{
	None: {
		"Claude.ai", "ChatGPT", "GitHub Copilot CLI", "Gemini CLI", "Windsurf Editor", "Cline", "Zed Editor", "Goose",
		"Amazon Q Developer CLI", "Apify MCP Client", "Cherry Studio", "Continue CLI Client", "Dust", "Factory CLI", "Jan AI", "Kilo Code",
		"LibreChat", "LobeHub", "Make MCP Client", "N8N MCP Client", "Opencode", "Roo Code",
	},
	Roots:       {"Claude Code", "Google Antigravity", "GitHub Copilot for Xcode", "Crush", "Raycast"},
	Sampling:    {"AmpCode"},
	Elicitation: {"OpenAI Codex", "Alpic Playground", "Arcade", "GitGuardian"},
	All:         {"Visual Studio Code", "JetBrains AI Assistant", "Mistral AI: Le Chat"},
}

// Mixed is a set of capabilities that no profile has, with the well-known
// clients that declare it.
type Mixed struct {
	Capabilities []string
	Clients      []string
}

// Clients returns the well-known clients that declare just what the profile
// does, those that most people have first (CONTRACT.md section 6).
func (p Profile) Clients() []string { return append([]string(nil), clients[p]...) }

// MixedClients returns the well-known clients that declare a set of
// capabilities that no profile has.
func MixedClients() []Mixed {
	return []Mixed{
		{[]string{"roots", "elicitation"}, []string{"Cursor"}},
		{[]string{"sampling", "elicitation"}, []string{"Glama", "Postman"}},
	}
}
