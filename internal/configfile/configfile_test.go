package configfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// canary stands for a secret: no error may repeat it.
const canary = "c4n4ry-s3cr3t"

// vars is what the tests' files may refer to.
var vars = Variables{
	Environ: map[string]string{"SET": "value", "EMPTY": "", "DOLLAR": "${SET}", "PORT": "3000", "_U1": "under", "HOME": "/home/u"},
	Inputs:  map[string]string{"MCPEVAL_INPUT_TOKEN": "given", "MCPEVAL_INPUT_NO_TOKEN_": "", "MCPEVAL_INPUT_GIT_HUB": "hub"},
	Kept:    func(name string) bool { return name == "GITHUB_OUTPUT" },
}

// write puts a file into a new project and returns its path; beside it lie a
// folder sub and an envFile.
func write(t *testing.T, name, text string) string {
	t.Helper()
	project := filepath.Join(t.TempDir(), "project")
	for file, text := range map[string]string{name: text, "sub/x": "", ".env": "A=file\nB='b b'\n"} {
		path := filepath.Join(project, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(project, name)
}

// resolve reads the entry s, or the only one, with the project's path written
// as PROJECT.
func resolve(t *testing.T, path, confine string) (Server, error) {
	t.Helper()
	file, err := Read(path, confine)
	if err != nil {
		return Server{}, err
	}
	entry := file.Entries[0]
	for _, e := range file.Entries {
		if e.Key == "s" {
			entry = e
		}
	}
	server, err := entry.Resolve(vars, "")
	plain := func(text string) string { return strings.ReplaceAll(text, projectOf(path), "PROJECT") }
	for _, list := range [][]string{server.Command, server.Env} {
		for i := range list {
			list[i] = plain(list[i])
		}
	}
	server.Dir, server.Where = plain(server.Dir), ""
	return server, err
}

func entry(body string) string { return `{"mcpServers":{"s":` + body + `}}` }

func started(words ...string) Server { return Server{Command: words, Dir: "PROJECT"} }

func TestRead(t *testing.T) {
	t.Parallel()
	in := func(dir string, s Server) Server { s.Dir = dir; return s }
	with := func(s Server, env ...string) Server { s.Env = env; return s }
	called := func(url string, headers ...Header) Server { return Server{URL: url, Headers: headers} }
	for _, c := range []struct {
		name, text string
		want       Server
	}{
		// Where the entries are.
		{"mcpServers", `{"mcpServers":{"s":{"command":"c"}}}`, started("c")},
		{"servers, with other keys", `{"$schema":"x","servers":{"s":{"command":"c"}},"inputs":[]}`, started("c")},
		{"mcp", `{"mcp":{"servers":{"s":{"command":"c"}}}}`, started("c")},
		{"mcp, the other name", `{"mcp":{"mcpServers":{"s":{"command":"c"}}}}`, started("c")},
		{"mcp, the entries themselves", `{"mcp":{"s":{"type":"remote","url":"http://127.0.0.1/"}}}`, called("http://127.0.0.1/")},
		{"flat", `{"t":{"httpUrl":"x"},"s":{"command":"c"}}`, started("c")},
		{"both names", `{"servers":{"s":{"command":"two"}},"mcpServers":{"s":{"command":"one"}}}`, started("one")},
		{"null beside", `{"mcpServers":null,"servers":{"s":{"command":"c"}}}`, started("c")},
		{"another entry is broken", `{"mcpServers":{"t":5,"s":{"command":"c"}}}`, started("c")},

		// The syntax.
		{"comments and commas", "// a\n{ /* b */ \"mcpServers\": {\"s\": {\"command\": \"c\", // c\n\"args\": [\"//x\", \"/*\",], }, }, } // end", started("c", "//x", "/*")},
		{"byte order mark", "\ufeff" + entry(`{"command":"c"}`), started("c")},
		{"CRLF", "{\r\n\"mcpServers\":{\"s\":{\"command\":\"c\"} // x\r\n}}\r\n", started("c")},
		{"escapes", entry(`{"command":"\u0063","args":["\\\"\u00e4"]}`), started("c", `\"ä`)},

		// An entry.
		{"command, args and env", entry(`{"command":"npx","args":["-y","","a b"],"env":{"B":"2","A":"1","E":""}}`), with(started("npx", "-y", "", "a b"), "A=1", "B=2", "E=")},
		{"null and empty is absent", entry(`{"command":"c","args":null,"env":null,"url":"","headers":{},"cwd":null,"type":"","envFile":"","httpUrl":null}`), started("c")},
		{"null in env", entry(`{"command":"c","env":{"A":null}}`), started("c")},
		{"other keys", entry(`{"command":"c","description":"d","disabled":true,"disabledTools":[],"autoApprove":["x"],"alwaysAllow":["x"],"timeout":5,"gallery":true,` +
			`"version":"1","dev":{},"icon":"i","tools":["*"],"name":"n","enabled":true,"trust":true,"includeTools":[],"startup_timeout":1,"oauth":{},"auth":{},` +
			`"transport":"stdio","transportType":"stdio","headersHelper":"x","excludeTools":[],"tags":[],"id":"i","title":"t","sandbox":{},"note":"n","uid":1}`), started("c")},
		{"a misspelt key without a value", entry(`{"command":"c","comand":null}`), started("c")},
		{"a command with blanks and args", entry(`{"command":"/opt/My App/s","args":[]}`), started("/opt/My App/s")},
		{"type stdio", entry(`{"type":"stdio","command":"c"}`), started("c")},
		{"type local", entry(`{"type":"local","command":"c"}`), started("c")},
		{"type http", entry(`{"type":"http","url":"http://127.0.0.1:3000/mcp"}`), called("http://127.0.0.1:3000/mcp")},
		{"type streamable-http", entry(`{"type":"streamable-http","url":"u"}`), called("u")},
		{"type streamableHttp", entry(`{"type":"streamableHttp","url":"u"}`), called("u")},
		{"serverUrl", entry(`{"serverUrl":"u"}`), called("u")},
		{"httpUrl", entry(`{"httpUrl":"u"}`), called("u")},
		{"headers", entry(`{"url":"u","headers":{"X-B":"1","Authorization":"Bearer ${SET}","X-C":"","X-D":null}}`),
			called("u", Header{"X-B", "1"}, Header{"Authorization", "Bearer value"})},
		{"cwd", entry(`{"command":"c","cwd":"sub"}`), in("PROJECT/sub", started("c"))},
		{"cwd, a dot", entry(`{"command":"c","cwd":"./"}`), started("c")},
		{"cwd, absolute", entry(`{"command":"c","cwd":"${workspaceFolder}/sub"}`), in("PROJECT/sub", started("c"))},
		{"envFile", entry(`{"command":"c","envFile":"${workspaceFolder}/.env","env":{"A":"env"}}`), with(started("c"), "A=env", "B=b b")},

		// Variables.
		{"everywhere", entry(`{"command":"${SET}","args":["--x=${SET}","${SET}${_U1}"],"env":{"K":"a${env:SET}b"},"cwd":"${NO:-sub}","envFile":"${NO:-.env}"}`),
			with(in("PROJECT/sub", started("value", "--x=value", "valueunder")), "A=file", "B=b b", "K=avalueb")},
		{"in a URL", entry(`{"url":"http://127.0.0.1:${PORT}/mcp"}`), called("http://127.0.0.1:3000/mcp")},
		{"defaults", entry(`{"command":"c","args":["${SET:-d}","${NO:-d}","${NO:-}","${NO:-a:-b}","${env:NO:-d}","${NO:- x }"]}`), started("c", "value", "d", "", "a:-b", "d", " x ")},
		{"set and empty is set", entry(`{"command":"c","args":["${EMPTY}","${EMPTY:-d}"]}`), started("c", "", "")},
		{"expanded once", entry(`{"command":"c","args":["${DOLLAR}"]}`), started("c", "${SET}")},
		{"no reference", entry(`{"command":"c","args":["$SET","$$","{SET}","$(SET)","%SET%","${SET"]}`), started("c", "$SET", "$$", "{SET}", "$(SET)", "%SET%", "${SET")},
		{"the project", entry(`{"command":"c","args":["${workspaceFolder}/a","${CLAUDE_PROJECT_DIR}","${CLAUDE_PROJECT_DIR:-.}","${CLAUDE_PLUGIN_ROOT}","${workspaceFolderBasename}","${userHome}"]}`),
			started("c", "PROJECT/a", "PROJECT", "PROJECT", "PROJECT", "project", "/home/u")},
		{"inputs", `{"inputs":[{"id":"token"},{"id":"no-token!","default":"unused"},{"id":"d","default":"standard"}],"servers":{"s":{"command":"c","args":["${input:token}","${input:no-token!}","${input:d}","${input:git hub}"]}}}`,
			started("c", "given", "", "standard", "hub")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := resolve(t, write(t, "mcp.json", c.text), "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	const (
		noServers = "has no mcpServers (or servers, as VS Code has it), and its own keys are not all servers with a command or a url"
		reference = "has a ${...} that is none of ${VAR}, ${VAR:-default}, ${env:VAR}, ${input:ID} and ${workspaceFolder}"
		cut       = "not JSON: the file ends before its last object, list, string or comment does"
	)
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"blank", " \r\n\t", "the file is empty"},
		{"only a mark", "\ufeff", "the file is empty"},
		{"too large", strings.Repeat(" ", MaxBytes+1), "the file has more than 1 MiB"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "the file is not UTF-8: save it with that encoding"},
		{"Latin 1", entry(`{"command":"` + "\xe4" + `"}`), "the file is not UTF-8: save it with that encoding"},
		{"words", canary, "line 1: not JSON"},
		{"only a comment", "// " + canary, "line 1: " + cut},
		{"not closed", "{\n\"mcpServers\":{\n\n", "line 2: " + cut},
		{"a missing comma", "{\n\"a\":1\n\"" + canary + "\":2}", "line 3: not JSON"},
		{"single quotes", "{\n'" + canary + "':1}", "line 2: not JSON"},
		{"two documents", "{}\n{}", "line 2: not JSON"},
		{"a merge conflict", "{\n<<<<<<< " + canary, "line 2: not JSON"},
		{"nested", strings.Repeat("[", maxNodes+1), "the file has more than 10000 objects and lists"},
		{"a list", "\n[]", "line 2: the file must be an object, not a list"},
		{"a string", `"` + canary + `"`, "line 1: the file must be an object, not a string"},
		{"null", "null", "line 1: the file must be an object, not null"},
		{"a key twice", "{\"mcpServers\":{\n\"s\":{\"command\":\"a\",\n\"command\":\"b\"}}}", "line 3: the key command is there twice"},
		{"a key twice, in another spelling", `{"mcpServers":{"s":{},"\u0073":{}}}`, "line 1: the key s is there twice"},
		{"a secret as a key, twice", `{"mcpServers":{"a ` + canary + `":{},"a ` + canary + `":{}}}`, "line 1: the key (an unusual name) is there twice"},

		{"no servers", `{"x":"` + canary + `"}`, noServers},
		{"nothing", `{}`, noServers},
		{"in another case", `{"mcpservers":{"s":{"command":"c"}}}`, noServers},
		{"flat, with something else", `{"s":{"command":"c"},"version":1}`, noServers},
		{"a list of servers", "{\"mcpServers\":\n[]}", "line 2: mcpServers must be an object, not a list"},
		{"no entry", "{\n\"servers\":{}}", "line 2: servers has no entry"},
		{"mcp without servers", "{\"mcp\":\n{}}", "line 2: mcp has neither mcpServers nor servers"},
		{"mcp is a list", `{"mcp":[]}`, "line 1: mcp must be an object, not a list"},
		{"inputs is an object", `{"servers":{"s":{"command":"c"}},"inputs":{}}`, "line 1: inputs must be a list, not an object"},
		{"an input is a string", `{"servers":{"s":{"command":"c"}},"inputs":["x"]}`, "line 1: every element of inputs must be an object, not a string"},

		{"an entry is a list", entry("\n[]"), "line 2: mcpServers.s must be an object, not a list"},
		{"an entry is null", entry("null"), "line 1: mcpServers.s must be an object, not null"},
		{"neither", entry(`{"args":["` + canary + `"]}`), "line 1: mcpServers.s has neither command nor url"},
		{"empty command", entry(`{"command":""}`), "line 1: mcpServers.s has neither command nor url"},
		{"both", entry(`{"command":"` + canary + `","url":"x"}`), "line 1: mcpServers.s has command and url: keep one of them"},
		{"two URLs", entry(`{"url":"x","httpUrl":"y"}`), "line 1: mcpServers.s has url and httpUrl: keep one of them"},
		{"three", entry(`{"url":"x","serverUrl":"x","httpUrl":"y"}`), "line 1: mcpServers.s has url and serverUrl and httpUrl: keep one of them"},
		{"flat path", `{"s":{"command":5}}`, "line 1: s.command must be a string, not a number: write it in quotes"},
		{"an unusual key", `{"servers":{"Azure MCP Server":{"command":true}}}`, "line 1: servers.Azure-MCP-Server.command must be a string, not true or false"},
		{"command is a list", entry(`{"command":["` + canary + `"]}`), `line 1: mcpServers.s.command must be a string, not a list: write the program, and what follows it as "args": [...]`},
		{"args is a string", entry("{\"command\":\"c\",\n\"args\":\"" + canary + "\"}"), "line 2: mcpServers.s.args must be a list, not a string"},
		{"args holds a number", entry("{\"command\":\"c\",\"args\":[\"a\",\n5]}"), "line 2: mcpServers.s.args[1] must be a string, not a number: write it in quotes"},
		{"args holds null", entry(`{"command":"c","args":[null]}`), "line 1: mcpServers.s.args[0] must be a string, not null"},
		{"env is a list", entry(`{"command":"c","env":["A=` + canary + `"]}`), "line 1: mcpServers.s.env must be an object, not a list"},
		{"env holds a number", entry(`{"command":"c","env":{"PORT":3000}}`), "line 1: mcpServers.s.env.PORT must be a string, not a number: write it in quotes"},
		{"env, a name with =", entry(`{"command":"c","env":{"A=` + canary + `":"x"}}`), "line 1: mcpServers.s.env: a variable's name is empty or has a = in it"},
		{"env, no name", entry(`{"command":"c","env":{"":"x"}}`), "line 1: mcpServers.s.env: a variable's name is empty or has a = in it"},
		{"NUL", entry(`{"command":"c","env":{"A":"\u0000` + canary + `"}}`), "line 1: mcpServers.s.env.A has a NUL character"},
		{"headers is a list", entry(`{"url":"u","headers":["` + canary + `"]}`), "line 1: mcpServers.s.headers must be an object, not a list"},
		{"a header is a number", entry(`{"url":"u","headers":{"X":1}}`), "line 1: mcpServers.s.headers.X must be a string, not a number: write it in quotes"},
		{"url is a number", entry(`{"url":5}`), "line 1: mcpServers.s.url must be a string, not a number: write it in quotes"},
		{"type sse", entry(`{"type":"sse","url":"u"}`), "line 1: mcpServers.s.type is sse, a transport that is not spoken: serve Streamable HTTP, and write http"},
		{"another type", entry(`{"type":"` + canary + `","url":"u"}`), "line 1: mcpServers.s.type must be stdio or http"},
		{"type is a list", entry(`{"type":["http"],"url":"u"}`), "line 1: mcpServers.s.type must be a string, not a list"},

		{"another host's environment", entry("{\"command\":\"c\",\n\"environment\":{}}"), "line 2: mcpServers.s has environment, which is not a key of this file: write env"},
		{"another host's link", entry(`{"link":"` + canary + `"}`), "line 1: mcpServers.s has link, which is not a key of this file: write url"},
		{"Command", entry(`{"Command":"c"}`), "line 1: mcpServers.s has Command, which is not a key of this file: write command"},
		{"arg", entry(`{"command":"c","arg":[]}`), "line 1: mcpServers.s has arg, which is not a key of this file: write args"},
		{"agrs", entry(`{"command":"c","agrs":[]}`), "line 1: mcpServers.s has agrs, which is not a key of this file: write args"},
		{"header", entry(`{"url":"u","header":{}}`), "line 1: mcpServers.s has header, which is not a key of this file: write headers"},
		{"envfile", entry(`{"command":"c","envfile":"x"}`), "line 1: mcpServers.s has envfile, which is not a key of this file: write envFile"},
		{"workingDirectory", entry(`{"command":"c","workingDirectory":"x"}`), "line 1: mcpServers.s has workingDirectory, which is not a key of this file: write cwd"},

		{"cmd", entry(`{"command":"cmd","args":["/c","npx"]}`), "line 1: mcpServers.s.command is cmd, the shell of Windows: write the program that it starts, and the rest as args"},
		{"CMD.EXE", entry(`{"command":"CMD.EXE"}`), "line 1: mcpServers.s.command is cmd, the shell of Windows: write the program that it starts, and the rest as args"},
		{"cd", entry(`{"command":"cd sub && node x"}`), "line 1: mcpServers.s.command is cd, which only a shell has: write the folder as cwd, and the program as command"},
		{"cd alone", entry(`{"command":"cd","args":["sub","&&","node"]}`), "line 1: mcpServers.s.command is cd, which only a shell has: write the folder as cwd, and the program as command"},
		{"NAME=value", entry(`{"command":"TOKEN=` + canary + ` npx"}`), "line 1: mcpServers.s.command begins with NAME=value, which only a shell reads: write it as env"},
		{"home", entry(`{"command":"~/bin/s"}`), "line 1: mcpServers.s.command begins with ~/, which only a shell reads: write ${userHome}/"},
		{"blanks", entry(`{"command":"npx -y ` + canary + `"}`), `line 1: mcpServers.s.command has blanks: write the program alone, and the rest as "args": [...] ("args": [] where the program's own name has blanks)`},
		{"empty in the end", entry(`{"command":"${EMPTY}"}`), "line 1: mcpServers.s.command is empty with its variables replaced"},
		{"cwd is not there", entry("{\"command\":\"c\",\n\"cwd\":\"" + canary + "\"}"), "line 2: mcpServers.s.cwd is no folder of the project"},
		{"cwd is a file", entry(`{"command":"c","cwd":"sub/x"}`), "line 1: mcpServers.s.cwd is no folder of the project"},
		{"envFile is not there", entry(`{"command":"c","envFile":"no.env"}`), "line 1: mcpServers.s.envFile: there is no such file"},
		{"envFile is a folder", entry(`{"command":"c","envFile":"sub"}`), "line 1: mcpServers.s.envFile: is no regular file"},

		{"unset", entry("{\"command\":\"c\",\n\"args\":[\"" + canary + "${NO}\"]}"), "line 2: mcpServers.s.args[0]: the variable NO is not set: set it {in-environment}, or write ${NO:-default}"},
		{"unset, in env", entry(`{"command":"c","env":{"K":"${env:NO}"}}`), "line 1: mcpServers.s.env.K: the variable NO is not set: set it {in-environment}, or write ${NO:-default}"},
		{"unset, in a header", entry(`{"url":"u","headers":{"X":"${NO}"}}`), "line 1: mcpServers.s.headers.X: the variable NO is not set: set it {in-environment}, or write ${NO:-default}"},
		{"kept from the server", entry(`{"command":"${GITHUB_OUTPUT}"}`), "line 1: mcpServers.s.command: the variable GITHUB_OUTPUT is kept from the server, so a file cannot use it"},
		{"an input without a value", entry(`{"command":"c","args":["${input:git-token 2}"]}`),
			"line 1: mcpServers.s.args[0]: the variable MCPEVAL_INPUT_GIT_TOKEN_2 is not set: set it {in-environment} to what ${input:...} stands for"},
		{"a reference in a default", entry(`{"command":"${NO:-${SET}}"}`), "line 1: mcpServers.s.command: has a ${ inside another ${...}: a default is taken as it is, so write it without one"},
		{"another reference", entry(`{"command":"${config:` + canary + `}"}`), "line 1: mcpServers.s.command: " + reference},
		{"an empty reference", entry(`{"command":"${}"}`), "line 1: mcpServers.s.command: " + reference},
		{"a shell's other form", entry(`{"command":"${SET:+` + canary + `}"}`), "line 1: mcpServers.s.command: " + reference},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := resolve(t, write(t, "mcp.json", c.text), "")
			if err == nil {
				t.Fatal("accepted")
			}
			if err.Error() != c.want {
				t.Errorf("%q, want\n%q", err, c.want)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("a value is echoed: %v", err)
			}
		})
	}
}

func TestEnvFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines string
		env   []string
		line  string // of a problem
	}{
		{"\ufeff# c\r\n\r\nexport A=1\r\n B = two words \r\nC=\r\n", []string{"A=1", "B=two words", "C="}, ""},
		{"A='$HOME #'\nB=\"a\\n\\\"b\\\" # c\" # d\nC=x # y\nD=$HOME ${SET} `x`\n", []string{"A=$HOME #", "B=a\n\"b\" # c", "C=x", "D=$HOME ${SET} `x`"}, ""},
		{"A=1\nA=2", []string{"A=2"}, ""},
		{"A=ä", []string{"A=ä"}, ""},
		{"A=1\n\n" + canary, nil, "has a line that is not NAME=value, with quotes closed (its line 3)"},
		{"=" + canary, nil, "has a line that is not NAME=value, with quotes closed (its line 1)"},
		{"A=\"" + canary, nil, "has a line that is not NAME=value, with quotes closed (its line 1)"},
		{"A=ä # " + canary, nil, "has a comment behind the value of A: give it a line of its own"},
	} {
		path := write(t, "mcp.json", entry(`{"command":"c","envFile":"my.env"}`))
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "my.env"), []byte(c.lines), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := resolve(t, path, "")
		if c.line != "" {
			if err == nil || err.Error() != "line 1: mcpServers.s.envFile "+c.line {
				t.Errorf("%q: %v", c.lines, err)
			}
			continue
		}
		if diff := cmp.Diff(c.env, got.Env); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", c.lines, err, diff)
		}
	}
}

// The project is the folder above a tool's own.
func TestProject(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		".mcp.json": "project", "x/mcp.json": "x", ".vscode/mcp.json": "project", ".cursor/mcp.json": "project", ".claude/mcp.json": "project",
		".github/mcp.json": "project", ".idea/mcp.json": "project", ".gemini/settings.json": ".gemini", ".vscode/x/mcp.json": "x",
	} {
		path := write(t, name, entry(`{"command":"c","args":["${workspaceFolderBasename}"]}`))
		got, err := resolve(t, path, "")
		if err != nil || got.Command[1] != want || got.Dir != "PROJECT" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestDirOverridesCwd(t *testing.T) {
	t.Parallel()
	file, err := Read(write(t, "mcp.json", entry(`{"command":"c","cwd":"not there"}`)), "")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := file.Entries[0].Resolve(vars, "elsewhere"); err != nil || s.Dir != "elsewhere" {
		t.Errorf("%v, %v", s, err)
	}
}

// Within the Action nothing leaves the workspace, by links neither.
func TestConfined(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"command":"c","cwd":"sub","envFile":".env"}`: "",
		`{"command":"c","cwd":"in","envFile":"in/x"}`:  "",
		`{"command":"c","cwd":".."}`:                   "line 1: mcpServers.s.cwd must stay inside the workspace",
		`{"command":"c","cwd":"/"}`:                    "line 1: mcpServers.s.cwd must stay inside the workspace",
		`{"command":"c","cwd":"out"}`:                  "line 1: mcpServers.s.cwd must stay inside the workspace",
		`{"command":"c","envFile":"out/secret"}`:       "line 1: mcpServers.s.envFile must stay inside the workspace",
		`{"command":"c","envFile":"../secret"}`:        "line 1: mcpServers.s.envFile must stay inside the workspace",
	} {
		path := write(t, "mcp.json", entry(body))
		project := filepath.Dir(path)
		outside := filepath.Dir(project)
		if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("A=1"), 0o600); err != nil {
			t.Fatal(err)
		}
		for link, to := range map[string]string{"out": outside, "in": filepath.Join(project, "sub")} {
			if err := os.Symlink(to, filepath.Join(project, link)); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if _, err := resolve(t, path, project); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q", body, got)
		}
		// The file itself, by a link out of the workspace; and a project above it.
		if _, err := Read(filepath.Join(project, "out", "project", "mcp.json"), filepath.Join(project, "sub")); err == nil || err.Error() != "must stay inside the workspace" {
			t.Errorf("through a link: %v", err)
		}
	}
	path := write(t, ".vscode/mcp.json", entry(`{"command":"c"}`))
	if _, err := resolve(t, path, filepath.Dir(path)); err == nil || err.Error() != "the file's project, where the command starts, must stay inside the workspace" {
		t.Errorf("a project above the workspace: %v", err)
	}
}
