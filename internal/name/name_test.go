package name

import (
	"strings"
	"testing"
)

func TestValid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"a": true, "get-roots-list": true, "A.b:c_d-9": true, "::error::x": true, strings.Repeat("x", MaxBytes): true,
		"": false, strings.Repeat("x", MaxBytes+1): false, "a b": false, "a\n": false, "é": false, "a/b": false, "a\x00": false, "`a`": false,
	} {
		if _, ok := Parse(text); ok != want || Valid(text) != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]Name{
		"Azure MCP Server":                "Azure-MCP-Server",
		"mwdev mcp":                       "mwdev-mcp",
		"@scope/name":                     "-scope-name",
		"plain":                           "plain",
		"a  //  b":                        "a-b",
		"a - b":                           "a---b",
		"é":                               "-",
		"":                                "",
		strings.Repeat("ab", MaxBytes):    Name(strings.Repeat("ab", MaxBytes/2)),
		strings.Repeat("a", 127) + "éé!b": Name(strings.Repeat("a", 127) + "-"),
	} {
		if got := Label(key); got != want {
			t.Errorf("%q: %q, not %q", key, got, want)
		}
	}
}
