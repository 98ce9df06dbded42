package options

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/name"
)

// describe writes the target as lines: the label, what is started or called
// and where, and what it gets. project is written as PROJECT.
func describe(target Target, project string) string {
	var out strings.Builder
	for _, e := range target.Entries {
		if e.Launch != nil {
			fmt.Fprintf(&out, "%s: %q in %q with %q\n", e.Label, e.Launch.Args, e.Launch.Dir, e.Launch.Env)
			continue
		}
		fmt.Fprintf(&out, "%s: %s with", e.Label, e.Endpoint.URL)
		for _, h := range e.Endpoint.Headers {
			fmt.Fprintf(&out, " %s: %q", h.Name, h.Value.Reveal())
		}
		out.WriteString("\n")
	}
	return strings.ReplaceAll(out.String(), project, "PROJECT")
}

// What is read from files as people have them; testdata/configs/README.md
// says where each form comes from.
func TestPublicFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file    string
		entries []string
		want    string
	}{
		{"vscode/.vscode/mcp.json", nil,
			`weather: ["node" "PROJECT/server/index.js" "--units=metric"] in "PROJECT" with ["HOME=/home/u" "LOG_LEVEL=debug" "WEATHER_KEY=asked"]` + "\n"},
		{"claude-code/.mcp.json", []string{"docs", "notes"},
			`docs: https://docs.example.com/mcp with Authorization: "Bearer secret"` + "\n" +
				`notes: ["uv" "run" "--project" "PROJECT" "python" "-m" "notes.server"] in "PROJECT" with ["HOME=/home/u"]` + "\n"},
		{"cursor/.cursor/mcp.json", nil,
			`files: ["npx" "-y" "@example/files-mcp@latest" "/home/u/notes"] in "PROJECT" with ["HOME=/home/u" "API_KEY=key"]` + "\n"},
		{"desktop/claude_desktop_config.json", nil,
			`mwdev-mcp: ["docker" "run" "-i" "--rm" "-e" "MODE=full" "mcp/mwdev"] in "PROJECT" with ["HOME=/home/u" "DOCKER_HOST=unix:///var/run/docker.sock"]` + "\n"},
		{"gemini/.gemini/settings.json", nil,
			`archive: https://mcp.example.com/mcp with X-Api-Key: "$ARCHIVE_KEY"` + "\n"},
		{"windsurf/mcp_config.json", nil,
			`figma: http://127.0.0.1:3845/mcp with` + "\n"},
		{"plugin/.mcp.json", []string{"@scope/name", "context-crafter"},
			`-scope-name: ["PROJECT/bin/server"] in "PROJECT" with ["HOME=/home/u" "CONFIG=PROJECT/config.json"]` + "\n" +
				`context-crafter: ["uv" "run" "--project" "PROJECT" "python" "-m" "context_crafter"] in "PROJECT" with ["HOME=/home/u"]` + "\n"},
		{"extension/gemini-extension.json", nil,
			`context: ["npx" "-y" "@example/context-mcp" "--api-key" "YOUR_API_KEY"] in "PROJECT" with ["HOME=/home/u"]` + "\n"},
		{"opencode/opencode.json", nil,
			`search: https://search.example.com/mcp with X-Team: "docs"` + "\n"},
		{"settings/.vscode/settings.json", nil,
			`Azure-MCP-Server: http://localhost:3000/mcp with` + "\n"},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("testdata", "configs", filepath.FromSlash(c.file))
			project, err := filepath.Abs(filepath.Dir(file))
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Base(project) == ".vscode" || filepath.Base(project) == ".cursor" {
				project = filepath.Dir(project)
			}
			opts, err := New(Raw{DefaultServer: "d", Config: &file, Entries: c.entries, AllowRemoteHTTP: true, Environ: []string{
				"HOME=/home/u", "DOCS_TOKEN=secret", "FILES_KEY=key", "MCPEVAL_INPUT_WEATHER_KEY=asked",
			}})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.NewReplacer(`"DOCS_TOKEN=secret" `, "", ` "DOCS_TOKEN=secret"`, "", `"FILES_KEY=key" `, "", ` "FILES_KEY=key"`, "").Replace(describe(opts.Target, project))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// configFile writes a file and returns the options that use it.
func configFile(t *testing.T, text string) Raw {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Raw{Config: &file, Environ: []string{
		"SET=value", "GITHUB_OUTPUT=" + canary, "ACTIONS_X=" + canary, "INPUT_X=" + canary,
		"MCPEVAL_HTTP_AUTHORIZATION=" + canary, "MCPEVAL_HTTP_HEADERS=" + canary, "MCPEVAL_INPUT_TOKEN=given",
	}}
}

const several = `{"mcpServers":{
	"a": {"command":"a"}, "b": {"command":"b"}, "Azure MCP Server": {"command":"azure"}, "Azure-MCP-Server": {"command":"other"},
	"": {"command":"nameless"}, "ä": {"command":"dash"}}}`

func TestChoose(t *testing.T) {
	t.Parallel()
	const (
		one  = `{"mcpServers":{"Azure MCP Server":{"command":"azure"}}}`
		all  = "a, b, Azure-MCP-Server, Azure-MCP-Server, , -"
		none = "entry: the file has no such entry: write a key just as the file has it. Its entries, by label: "
		many = "entry: the file has several entries and none is named as {server}: choose out of "
	)
	for _, c := range []struct {
		name, text string
		server     string // empty: none
		standard   string
		entries    []string
		want       string // labels and the report's label, or what is refused
	}{
		{"the only one", one, "", "", nil, "Azure-MCP-Server / Azure-MCP-Server"},
		{"the only one, with a label", one, "x", "", nil, "Azure-MCP-Server / x"},
		{"the only one wins over the repository's name", one, "", "repository", nil, "Azure-MCP-Server / Azure-MCP-Server"},
		{"by its key", one, "", "", []string{"Azure MCP Server"}, "Azure-MCP-Server / Azure-MCP-Server"},
		{"one of several", several, "", "", []string{"b"}, "b / b"},
		{"named as the server", several, "b", "", nil, "b / b"},
		{"named as the repository", several, "", "b", nil, "b / b"},
		{"as given, repeats dropped", several, "x", "", []string{"b", "a", "b"}, "b a / x"},
		{"several, with the repository's name", several, "", "repository", []string{"b", "a"}, "b a / repository"},
		{"any text", several, "", "", []string{"ä"}, "- / -"},
		{"several without a server", several, "", "", []string{"b", "a"}, "server: required: a label for the report, " + name.Grammar},
		{"none of several", several, "x", "", nil, many + all},
		{"none of several, no server", several, "", "", nil, many + all},
		{"not there", several, "x", "", []string{"a", canary}, none + all},
		{"a label is no key", one, "x", "", []string{"Azure-MCP-Server"}, none + "Azure-MCP-Server"},
		{"an empty entry", one, "x", "", []string{""}, none + "Azure-MCP-Server"},
		{"an empty key", several, "x", "", []string{""}, "entry: an entry's key must not be empty: it names the entry in the report"},
		{"no entry", one, "x", "", []string{}, "entry: empty: leave it out, or choose out of Azure-MCP-Server"},
		{"two with one label", several, "x", "", []string{"Azure MCP Server", "Azure-MCP-Server"}, "entry: two entries would have the label Azure-MCP-Server in the report: rename one of them in the file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			raw := configFile(t, c.text)
			raw.DefaultServer, raw.Entries = c.standard, c.entries
			if c.server != "" {
				raw.Server = &c.server
			}
			opts, err := New(raw)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				for _, e := range opts.Target.Entries {
					got += string(e.Label) + " "
				}
				got += "/ " + string(opts.Output.Server)
			}
			if got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// A long list of entries is cut.
func TestManyEntries(t *testing.T) {
	t.Parallel()
	text := `{"mcpServers":{`
	for i := range 25 {
		text += fmt.Sprintf(`"e%d":{"command":"c"},`, i)
	}
	raw := configFile(t, text+"}}")
	if err := refusal(t, raw); err == nil || !strings.HasSuffix(err.Problem, "e18, e19 and others") {
		t.Error(err)
	}
	// 13 entries of 5 profiles are more than 60 sessions, 12 are not.
	raw.Server = ptr("x")
	for i := range 13 {
		raw.Entries = append(raw.Entries, fmt.Sprintf("e%d", i))
	}
	if err := refusal(t, raw); err == nil || err.Problem != "13 entries x 1 protocols x 5 profiles are more than 60 sessions: choose {few}" {
		t.Error(err)
	}
	raw.Entries = raw.Entries[1:]
	if err := refusal(t, raw); err != nil {
		t.Error(err)
	}
	raw.Protocols = []string{"2025-06-18", "2026-07-28"}
	if err := refusal(t, raw); err == nil || err.Option != "profile" {
		t.Error(err)
	}
}

// The entry's variables take the place of ours; what is kept from the server
// is kept from the file.
func TestEntryEnvironment(t *testing.T) {
	t.Parallel()
	raw := configFile(t, `{"mcpServers":{"s":{"command":"c","args":["${GITHUB_OUTPUT:-d}","${ACTIONS_X:-d}","${INPUT_X:-d}","${MCPEVAL_INPUT_TOKEN:-d}","${input:token}"],"env":{"SET":"mine ${SET}","PATH":"/opt/bin"}}}}`)
	raw.Environ = append(raw.Environ, "PATH=/bin", "OTHER=1")
	opts, err := New(raw)
	if err != nil {
		t.Fatal(err)
	}
	launch := opts.Target.Entries[0].Launch
	if diff := cmp.Diff([]string{"c", "d", "d", "d", "d", "given"}, launch.Args); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"OTHER=1", "PATH=/opt/bin", "SET=mine value"}, launch.Env); diff != "" {
		t.Error(diff)
	}
	for _, variable := range []string{"GITHUB_OUTPUT", "ACTIONS_X", "INPUT_X", "MCPEVAL_HTTP_AUTHORIZATION", "MCPEVAL_HTTP_HEADERS", "MCPEVAL_INPUT_TOKEN"} {
		raw := configFile(t, `{"mcpServers":{"s":{"command":"${`+variable+`}"}}}`)
		if err := refusal(t, raw); err == nil || err.Problem != "line 1: mcpServers.s.command: the variable "+variable+" is kept from the server, so a file cannot use it" {
			t.Error(err)
		}
	}
}

func TestFileHeaders(t *testing.T) {
	t.Parallel()
	file := func(headers string) Raw {
		return configFile(t, `{"mcpServers":{"s":{"url":"http://127.0.0.1/","headers":{`+headers+`}}}}`)
	}
	raw := file(`"X-File":"1","x-both":"file","Authorization":"file"`)
	raw.Headers = ptr("X-Both: lines\nX-Lines: 2")
	if diff := cmp.Diff([]string{"X-File: 1", "Authorization: file", "X-Both: lines", "X-Lines: 2"}, sent(t, raw)); diff != "" {
		t.Error(diff)
	}
	raw.Authorization = ptr("variable")
	if diff := cmp.Diff([]string{"X-File: 1", "X-Both: lines", "X-Lines: 2", "Authorization: variable"}, sent(t, raw)); diff != "" {
		t.Error(diff)
	}

	many := ""
	for i := range MaxHeaders {
		many += fmt.Sprintf(`"X-%d":"v",`, i)
	}
	raw = file(many)
	raw.Authorization = ptr("is not counted")
	if n := len(sent(t, raw)); n != MaxHeaders+1 {
		t.Errorf("%d headers", n)
	}
	for headers, want := range map[string]string{
		`"Accept":"` + canary + `"`:         "Accept is set by the check itself: leave it out",
		`"mcp-session-id":"` + canary + `"`: "headers that begin with Mcp- are set by the check itself: leave them out",
		`"X ` + canary + `":"v"`:            "a header's name must be letters, digits and - with no blank, as in X-Api-Key: value",
		`"X":"a\nb` + canary + `"`:          "a header's value must not have control characters, such as a line break",
		`"X":"${EMPTY}"`:                    "a header's value must have 1 to 8192 bytes",
		`"X":"1","x":"2"`:                   "one header is there twice",
		many + `"X-32":"v"`:                 "more than 32 headers with those of {http-headers}",
	} {
		raw := file(headers)
		raw.Environ = append(raw.Environ, "EMPTY=")
		if err := refusal(t, raw); err == nil || err.Option != "config" || err.Problem != "line 1: mcpServers.s.headers: "+want {
			t.Errorf("%.40s: %v", headers, err)
		}
	}
}

func TestFileProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"mcpServers":{"s":{"url":"http://` + canary + `/"}}}`:             "line 1: mcpServers.s: its URL: plain http is for loopback only (localhost, 127.0.0.0/8, [::1]): use https and {permit-remote} for a remote server",
		`{"mcpServers":{"s":{"url":"https://example.com/` + canary + `"}}}`: "line 1: mcpServers.s: its URL: is not loopback: {permit-remote} permits a remote server over https",
		"{\"mcpServers\":{\n\"s\":{\"url\":\"${SET}\"}}}":                   "line 2: mcpServers.s: its URL: must be a full http or https URL, such as http://127.0.0.1:3000/mcp",
		"[]": "line 1: the file must be an object, not a list",
	} {
		if err := refusal(t, configFile(t, text)); err == nil || err.Option != "config" || err.Problem != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	// Only the chosen entries are judged, and the first problem is the same on
	// every run.
	raw := configFile(t, `{"mcpServers":{"bad":{"type":"sse"},"s":{"command":"c","env":{"A":"${NO1}","B":"${NO2}","C":"${NO3}"}}}}`)
	raw.Server = ptr("s")
	var got []string
	for range 10 {
		got = append(got, fmt.Sprint(refusal(t, raw)))
	}
	if got = slices.Compact(got); len(got) != 1 || !strings.Contains(got[0], "NO1") {
		t.Errorf("%q", got)
	}
}
