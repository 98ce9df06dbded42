package action

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/protocol"
)

// with adds inputs to those of a check that can run.
func with(pairs ...string) map[string]string {
	environ := inputs("server", "label", "server-command", "program")
	for name, value := range inputs(pairs...) {
		environ[name] = value
	}
	return environ
}

// refusal is the input that an error names; fails where there is no error.
func refusal(t *testing.T, environ map[string]string) string {
	t.Helper()
	a, out := newAction(t, environ)
	in, err := a.Inputs()
	if err == nil {
		_, err = options.New(in.Raw)
	}
	var invalid *Error
	var option *options.Error
	switch {
	case errors.As(err, &option):
		invalid = Explain(option)
	case !errors.As(err, &invalid):
		t.Fatalf("the inputs were taken, or refused with %v", err)
	}
	for _, value := range environ {
		if len(value) > 8 && strings.Contains(invalid.Error(), value) {
			t.Errorf("the error echoes a value: %v", invalid)
		}
	}
	if out.Len() > 0 {
		t.Errorf("reading inputs wrote to the log: %q", out)
	}
	return invalid.Input
}

func read(t *testing.T, environ map[string]string) (Inputs, options.Options) {
	t.Helper()
	a, _ := newAction(t, environ)
	in, err := a.Inputs()
	if err != nil {
		t.Fatal(err)
	}
	opts, err := options.New(in.Raw)
	if err != nil {
		t.Fatal(err)
	}
	return in, opts
}

func endpoint(o options.Options) *options.Endpoint { return o.Target.Entries[0].Endpoint }

func TestInputs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		environ map[string]string
		get     func(Inputs, options.Options) any
		want    any
	}{
		{"server", with(), func(_ Inputs, o options.Options) any { return string(o.Output.Server) }, "label"},
		{"server, blanks", with("server", " \t label\r\n"), func(_ Inputs, o options.Options) any { return string(o.Output.Server) }, "label"},
		{"settle-ms", with("settle-ms", " 0 "), func(_ Inputs, o options.Options) any { return o.Timing.Settle.Milliseconds() }, int64(0)},
		{"settle-ms, empty", with("settle-ms", ""), func(_ Inputs, o options.Options) any { return o.Timing.Settle.Milliseconds() }, int64(1500)},
		{"settle-ms, blank", with("settle-ms", " \n"), func(_ Inputs, o options.Options) any { return o.Timing.Settle.Milliseconds() }, int64(1500)},
		{"timeout-ms", with("timeout-ms", "600000\n"), func(_ Inputs, o options.Options) any { return o.Timing.Timeout.Milliseconds() }, int64(600000)},
		{"jobs", with("jobs", "1"), func(_ Inputs, o options.Options) any { return o.Timing.Jobs }, 1},
		{"url", with("server-command", "", "url", " http://127.0.0.1:3000/mcp\n"), func(_ Inputs, o options.Options) any { return endpoint(o).URL.String() }, "http://127.0.0.1:3000/mcp"},
		{"allow-remote-http", with("server-command", " ", "url", "https://example.com", "allow-remote-http", " true\n"), func(_ Inputs, o options.Options) any { return endpoint(o).Loopback }, false},
		{"http-authorization", with("server-command", "", "url", "http://localhost:1", "http-authorization", "Bearer  secret\n"), func(_ Inputs, o options.Options) any { return endpoint(o).Headers[0].Value.Reveal() }, "Bearer  secret"},
		{"profiles, empty", with("profiles", ""), func(_ Inputs, o options.Options) any { return len(o.Profiles) }, 5},
		{"report-path", with("report-path", " ./out/../r.json "), func(in Inputs, _ options.Options) any { return in.ReportPath }, "r.json"},
		{"report-path, empty", with("report-path", ""), func(in Inputs, _ options.Options) any { return in.ReportPath }, DefaultReportPath},
		{"start-command", with("server-command", "", "url", "http://localhost:1", "start-command", `serve "a b"`), func(_ Inputs, o options.Options) any { return o.Target.Start.Args }, []string{"serve", "a b"}},
		{"no start-command", with(), func(_ Inputs, o options.Options) any { return o.Target.Start }, (*options.Launch)(nil)},
		{"jobs, empty", with("jobs", ""), func(_ Inputs, o options.Options) any { return o.Timing.Jobs }, 0},
		{"protocols", with("protocols", "2026-07-28, 2025-06-18"), func(_ Inputs, o options.Options) any { return o.Protocols }, []protocol.Version{"2025-06-18", "2026-07-28"}},
		{"references", with("references", "- words\n- unlisted\n"), func(_ Inputs, o options.Options) any { return o.References }, options.References{Words: true, Unlisted: true}},
		{"http-headers", with("server-command", "", "url", "http://localhost:1", "http-headers", "X-A: 1\r\nX-B: 2 3\r\n"), func(_ Inputs, o options.Options) any { return len(endpoint(o).Headers) }, 2},
		{"sarif-path", with("sarif-path", "out/x.sarif"), func(in Inputs, _ options.Options) any { return in.SARIFPath }, "out/x.sarif"},
		{"no sarif-path", with(), func(in Inputs, _ options.Options) any { return in.SARIFPath }, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(row.want, row.get(read(t, row.environ))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRefusedInputs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		environ map[string]string
		input   string
	}{
		{"nothing", inputs("server", "x"), "server-command, url, config"},
		{"two targets", with("url", "http://localhost:1"), "server-command, url, config"},
		{"no server", inputs("server-command", "x"), "server"},
		{"server", with("server", "secret words"), "server"},
		{"server, a command", with("server", "a\n::error::x"), "server"},
		{"profiles", with("profiles", "none, every"), "profiles"},
		{"profiles, case", with("profiles", "None"), "profiles"},
		{"profiles, separators", with("profiles", ",,\n,"), "profiles"},
		{"require-tools", with("require-tools", "a(secret)"), "require-tools"},
		{"require-tools, separators", with("require-tools", " ,\r\n, "), "require-tools"},
		{"acknowledge", with("acknowledge", "secret/name"), "acknowledge"},
		{"acknowledge, separators", with("acknowledge", ","), "acknowledge"},
		{"instructions-file, separators", with("instructions-file", ",\n"), "instructions-file"},
		{"settle-ms", with("settle-ms", "5001"), "settle-ms"},
		{"settle-ms, sign", with("settle-ms", "+1"), "settle-ms"},
		{"settle-ms, hexadecimal", with("settle-ms", "0x10"), "settle-ms"},
		{"timeout-ms", with("timeout-ms", "999"), "timeout-ms"},
		{"timeout-ms, zero", with("timeout-ms", "01000"), "timeout-ms"},
		{"jobs", with("jobs", "6"), "jobs"},
		{"jobs, words", with("jobs", "all of them"), "jobs"},
		{"allow-remote-http, case", with("allow-remote-http", "True"), "allow-remote-http"},
		{"allow-remote-http, number", with("allow-remote-http", "1"), "allow-remote-http"},
		{"allow-remote-http, word", with("allow-remote-http", "yes"), "allow-remote-http"},
		{"url", with("server-command", "", "url", "not-a-url-secret"), "url"},
		{"url, remote", with("server-command", "", "url", "https://secret.example.com/"), "url"},
		{"http-authorization", with("http-authorization", "Bearer\nsecret-value"), "http-authorization"},
		{"protocols", with("protocols", "2026-07-28, latest"), "protocols"},
		{"references", with("references", "everything"), "references"},
		{"http-headers", with("http-headers", "no header at all"), "http-headers"},
		{"http-headers, owned", with("http-headers", "Host: secret.example"), "http-headers"},
		{"entries without config", with("entries", "a"), "entries"},
		{"config, absolute", inputs("server", "x", "config", "/etc/hostname"), "config"},
		{"config, outside", inputs("server", "x", "config", "../secret.json"), "config"},
		{"config, not there", inputs("server", "x", "config", "secret.json"), "config"},
		{"sarif-path, outside", with("sarif-path", "../secret.sarif"), "sarif-path"},
		{"sarif-path, a folder", with("sarif-path", "out/"), "sarif-path"},
		{"sarif-path, the report", with("sarif-path", "./mcpeval-guidance.json"), "sarif-path"},
		{"start-command alone", with("start-command", "serve this"), "start-command"},
		{"start-command, quote", with("server-command", "", "url", "http://localhost:1", "start-command", "'serve"), "start-command"},
		{"server-command, quote", with("server-command", `program "secret`), "server-command"},
		{"server-command, single quote", with("server-command", `program 'secret"`), "server-command"},
		{"server-command, backslash", with("server-command", `program \`), "server-command"},
		{"server-command, no word", with("server-command", "\\\n"), "server-command"},
		{"server-command, empty word", with("server-command", `"" secret-word`), "server-command"},
		{"JSON, empty", with("server-command", `[]`), "server-command"},
		{"JSON, empty word", with("server-command", `["", "secret-word"]`), "server-command"},
		{"JSON, null", with("server-command", `["program", null]`), "server-command"},
		{"JSON, number", with("server-command", `["program", 1]`), "server-command"},
		{"JSON, nested", with("server-command", `["program", ["secret"]]`), "server-command"},
		{"JSON, open", with("server-command", `["program", "secret"`), "server-command"},
		{"JSON, more", with("server-command", `["program"] "secret"`), "server-command"},
		{"JSON, two", with("server-command", `["program"] ["secret"]`), "server-command"},
		{"JSON, NUL", with("server-command", `["program", "\u0000secret"]`), "server-command"},
		{"JSON, single quotes", with("server-command", `['program']`), "server-command"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := refusal(t, row.environ); got != row.input {
				t.Errorf("the error names input %q, want %q", got, row.input)
			}
		})
	}
}

// TestLists has the lists that people write in YAML (case 31).
func TestLists(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                             nil,
		" \r\n\t":                      nil,
		"a":                            {"a"},
		"a,b":                          {"a", "b"},
		"a, b ,c":                      {"a", "b", "c"},
		"a b\tc":                       {"a", "b", "c"},
		"\na\n\n  b\n\n":               {"a", "b"},
		"a\r\nb\r\n\r\nc\r\n":          {"a", "b", "c"},
		",a,,b,":                       {"a", "b"},
		"b,a,b":                        {"b", "a", "b"},
		"- alpha\n- beta\n":            {"alpha", "beta"},
		"  - alpha\r\n  -  beta\r\n":   {"alpha", "beta"},
		"- alpha - beta":               {"alpha", "beta"}, // folded
		"-\n- a\n-":                    {"a"},
		"-a":                           {"-a"},
		"- 'alpha'\n- \"beta\"":        {"alpha", "beta"},
		"'alpha', 'beta'":              {"alpha", "beta"},
		"'alpha\"":                     {"'alpha\""},
		`["alpha","beta"]`:             {"alpha", "beta"},
		"[\n \"alpha\",\n \"beta\"\n]": {"alpha", "beta"},
		"a;b":                          {"a;b"},
		"::error::x,\n::set-output:":   {"::error::x", "::set-output:"},
	} {
		a, _ := newAction(t, with("require-tools", text, "instructions-file", text))
		got, err := a.list("require-tools", splitNames)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
		got, err = a.list("instructions-file", a.splitFiles)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("no files, %q: %v\n%s", text, err, diff)
		}
	}
}

// TestInstructionFiles: names with blanks are names (case 32).
func TestInstructionFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"my notes/GUIDE.md":                  {"my notes/GUIDE.md"},
		"my notes/GUIDE.md\nREADME.md\n":     {"my notes/GUIDE.md", "README.md"},
		"- my notes/GUIDE.md\n- README.md\n": {"my notes/GUIDE.md", "README.md"},
		"\"my notes/GUIDE.md\"":              {"my notes/GUIDE.md"},
		"my notes/GUIDE.md, README.md":       {"my notes/GUIDE.md", "README.md"},
		"README.md a, b.md":                  {"README.md", "a", "b.md"}, // no file as a whole: split
		"a, b.md":                            {"a, b.md"},
		"README.md x.md":                     {"README.md", "x.md"},
		`["my notes/GUIDE.md", "a, b.md"]`:   {"my notes/GUIDE.md", "a, b.md"},
	} {
		folder := t.TempDir()
		for _, file := range []string{"my notes/GUIDE.md", "README.md", "x.md", "a, b.md"} {
			path := filepath.Join(folder, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		environ := with("instructions-file", text)
		a, _ := newActionIn(t, folder, func(name string) string { return environ[name] })
		got, err := a.list("instructions-file", a.splitFiles)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                            nil,
		"Azure MCP Server":            {"Azure MCP Server"},
		"a, b\r\n\r\n@scope/name\r\n": {"a, b", "@scope/name"},
		"- mwdev mcp\n- 'b'\n":        {"mwdev mcp", "b"},
		`["a\u0020b", "c"]`:           {"a b", "c"},
	} {
		a, _ := newAction(t, with("entries", text))
		got, err := a.list("entries", wholeLine)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
}

// TestConfig: in the Action a configuration's paths start at its project, or
// at working-directory, and its problems are said in the Action's words.
func TestConfig(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for file, text := range map[string]string{
		"one.json":       `{"servers":{"Azure MCP Server":{"command":"c"}}}`,
		"sub/two.json":   `{"servers":{"repository":{"command":"c","cwd":"deep"},"b":{"url":"https://example.com"},"c":{"command":"${input:key}"},"d":{"command":"c","cwd":"../.."}}}`,
		"sub/deep/.keep": "",
	} {
		path := filepath.Join(folder, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		name    string
		environ map[string]string
		want    string // server, label and folder, or the problem
	}{
		{"the entry's label", inputs("config", "one.json"), "Azure-MCP-Server Azure-MCP-Server ."},
		{"a label given", inputs("config", "one.json", "server", "x"), "x Azure-MCP-Server ."},
		{"named as the repository", inputs("config", "sub/two.json"), "repository repository sub/deep"},
		{"working-directory", inputs("config", "sub/two.json", "working-directory", "sub"), "repository repository sub"},
		{"a remote URL", inputs("config", "sub/two.json", "entries", "b"), "input config: line 1: servers.b: its URL: is not loopback: allow-remote-http: true permits a remote server over https"},
		{"an input that is not set", inputs("config", "sub/two.json", "entries", "c"), "input config: line 1: servers.c.command: the variable MCPEVAL_INPUT_KEY is not set: set it under env: of the step to what ${input:...} stands for"},
		{"outside", inputs("config", "sub/two.json", "entries", "d"), "input config: line 1: servers.d.cwd must stay inside the workspace"},
		{"not there", inputs("config", "sub/two.json", "entries", "no such"), "input entries: the file has no such entry: write a key just as the file has it. Its entries, by label: repository, b, c, d"},
		{"no file", inputs("config", "no.json"), "input config: must be a file inside the workspace, relative to it"},
		{"outside the workspace", inputs("config", "../no.json"), "input config: must be a file inside the workspace, relative to it"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.environ["GITHUB_REPOSITORY"] = "owner/repository"
			a, _ := newActionIn(t, folder, func(name string) string { return row.environ[name] })
			in, err := a.Inputs()
			var opts options.Options
			if err == nil {
				opts, err = options.New(in.Raw)
			}
			var invalid *options.Error
			if errors.As(err, &invalid) {
				err = Explain(invalid)
			}
			got := fmt.Sprint(err)
			if err == nil {
				entry := opts.Target.Entries[0]
				dir, _ := filepath.Rel(folder, entry.Launch.Dir)
				got = fmt.Sprint(opts.Output.Server, " ", entry.Label, " ", filepath.ToSlash(dir))
			}
			if got != row.want {
				t.Errorf("%s\nwant %s", got, row.want)
			}
		})
	}
}

func TestServerDefault(t *testing.T) {
	t.Parallel()
	for repository, want := range map[string]string{
		"owner/My.repo_1-x": "My.repo_1-x",
		"":                  "",
		"name":              "",
		"owner/":            "",
		"owner/a b":         "a-b",
	} {
		environ := inputs("server-command", "program", "server", "  ")
		environ["GITHUB_REPOSITORY"] = repository
		if want == "" {
			if got := refusal(t, environ); got != "server" {
				t.Errorf("%q: the error names %q", repository, got)
			}
			continue
		}
		if _, opts := read(t, environ); string(opts.Output.Server) != want {
			t.Errorf("%q: server %q, want %q", repository, opts.Output.Server, want)
		}
		environ["INPUT_SERVER"] = "given"
		if _, opts := read(t, environ); string(opts.Output.Server) != "given" {
			t.Errorf("%q: server %q although one was given", repository, opts.Output.Server)
		}
	}
}

// TestCommand has words as a shell reads them, and what a shell would find or
// end a command at, where it is part of a word: that is taken as it stands
// (case 21).
func TestCommand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`node server.js`:                            {"node", "server.js"},
		`a '$HOME' \$HOME "\$HOME" a$ $ "$"`:        {"a", "$HOME", "$HOME", "$HOME", "a$", "$", "$"},
		"a `id` \"`id`\"":                           {"a", "`id`", "`id`"},
		`a; b;c x&&y a=1|b x>y '&&' \; ">"`:         {"a;", "b;c", "x&&y", "a=1|b", "x>y", "&&", ";", ">"},
		`a * ?.js [ab] {a,b} ~ a~/x '~/x'`:          {"a", "*", "?.js", "[ab]", "{a,b}", "~", "a~/x", "~/x"},
		`a # b #c d#e`:                              {"a", "#", "b", "#c", "d#e"},
		`a A=1 cd --x=$`:                            {"a", "A=1", "cd", "--x=$"},
		`'A=1' b`:                                   {"A=1", "b"},
		`a !! !b`:                                   {"a", "!!", "!b"},
		`"/with a blank/node" 'x y' z\ z`:           {"/with a blank/node", "x y", "z z"},
		`a "" ''`:                                   {"a", "", ""},
		`a'b'"c"\d`:                                 {"abcd"},
		`a "\x\$\"\\"`:                              {"a", `\x$"\`},
		`a '\x'`:                                    {"a", `\x`},
		"npx\n  -y\n\n  @scope/name\n":              {"npx", "-y", "@scope/name"}, // a block value
		"npx\r\n-y\r\n@scope/name\r\n":              {"npx", "-y", "@scope/name"},
		"npx \\\n  -y \\\n  @scope/name\n":          {"npx", "-y", "@scope/name"},
		"npx \\\r\n  -y \\\r\n @scope/name":         {"npx", "-y", "@scope/name"},
		"npx \\\n  -y \\\n":                         {"npx", "-y"}, // the last line ends like the others
		"npx -y @scope/name ":                       {"npx", "-y", "@scope/name"},
		"a b\\ ":                                    {"a", "b "},
		"a 'b\nc'":                                  {"a", "b\nc"},
		"a \"b\\\nc\"":                              {"a", "bc"},
		`a \[ b`:                                    {"a", "[", "b"},
		"a\u00a0b":                                  {"a\u00a0b"},
		` ["node", "server.js"] `:                   {"node", "server.js"},
		"[\n  \"node\",\n  \"a b\"\n]\n":            {"node", "a b"},
		`["a", "", "$HOME", "'x'", "\u00e9", "\n"]`: {"a", "", "$HOME", "'x'", "é", "\n"},
		`["::error::x", "##[error]"]`:               {"::error::x", "##[error]"},
	} {
		for _, input := range []string{"server-command", "start-command"} {
			a, _ := newAction(t, inputs(input, text))
			got, err := a.command(input)
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %q:\n%s", input, text, diff)
			}
		}
	}
}

// TestShellText: what only a shell would do is refused, with what to write
// instead (case 33).
func TestShellText(t *testing.T) {
	t.Parallel()
	const (
		cd         = "begins with cd, which only a shell has: give the folder as working-directory"
		assignment = "begins with NAME=value, which only a shell reads: set the variable under env: of the step"
		home       = "has a word that begins with ~/, which only a shell replaces: write the whole path"
		dollar     = "has a $ that only a shell would replace: write the value itself"
	)
	operator := func(word string) string {
		return "has " + word + " as a word of its own, which only a shell reads: write one program with its arguments"
	}
	for text, want := range map[string]string{
		"cd sub && node x":        cd,
		"\n  cd\nsub":             cd,
		"TOKEN=secret npx -y x":   assignment,
		"A='b c' d":               assignment,
		"A+=b d":                  assignment,
		"node $HOME/x":            dollar,
		`node "${HOME}/x"`:        dollar,
		"node $(which x)":         dollar,
		"node a$1":                dollar,
		"node $$":                 dollar,
		"node $'x'":               dollar,
		`node '$a'$b`:             dollar,
		"~/bin/server":            home,
		"node ~/x":                home,
		"a | b":                   operator("|"),
		"a && b":                  operator("&&"),
		"a || b":                  operator("||"),
		"a ; b":                   operator(";"),
		"a &":                     operator("&"),
		"a > b":                   operator(">"),
		"a >> b":                  operator(">>"),
		"a < b":                   operator("<"),
		"a 2>&1":                  operator("2>&1"),
		"a &> b":                  operator("&>"),
		"a <<< b":                 operator("<<<"),
		"( a )":                   operator("("),
		"npx \\\n -y x \\\n && b": operator("&&"),
	} {
		for _, input := range []string{"server-command", "start-command"} {
			a, _ := newAction(t, inputs(input, text))
			_, err := a.command(input)
			if err == nil || !strings.HasPrefix(err.Error(), "input "+input+": "+want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

// TestWordsAsTheShellReadsThem compares the quoting with the system's sh, on
// texts without anything that a shell would expand.
func TestWordsAsTheShellReadsThem(t *testing.T) {
	t.Parallel()
	tokens := []string{"a", "bc", "é", "-", "=", "%", "@", ":", ",", "/", "+", ".", " ", "  ", "\t", `'`, `"`, `\`, `\'`, `\"`, `\\`, `""`, `''`, "x\\\n", `"x y"`, `'x y'`}
	source := rand.New(rand.NewPCG(8, 21))
	refused, words := 0, 0
	for range 600 {
		text := "printf '%s\\0' "
		for range source.IntN(14) {
			text += tokens[source.IntN(len(tokens))]
		}
		text += " end"
		out, shellErr := exec.Command("sh", "-c", text).Output()
		a, _ := newAction(t, inputs("server-command", text))
		got, err := a.command("server-command")
		if (err != nil) != (shellErr != nil) {
			t.Errorf("%q: %v, but the shell: %v", text, err, shellErr)
			continue
		}
		if err != nil {
			refused++
			continue
		}
		want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		words += len(want)
		if diff := cmp.Diff(want, got[2:]); diff != "" {
			t.Errorf("%q (- shell, + input):\n%s", text, diff)
		}
	}
	if refused == 0 || words < 600 {
		t.Errorf("the texts were too tame: %d refused, %d words", refused, words)
	}
}

// TestExplain: a person reads the names that action.yml has.
func TestExplain(t *testing.T) {
	t.Parallel()
	for option, want := range map[string]string{
		"profile": "profiles", "protocol": "protocols", "require-tool": "require-tools", "entry": "entries", "command": "server-command",
		"target": "server-command, url, config", "url": "url", "settle-ms": "settle-ms", "server": "server",
	} {
		got := Explain(&options.Error{Option: option, Problem: "see {command}, {several}"})
		if diff := cmp.Diff(&Error{Input: want, Problem: "see server-command, separate names with commas, blanks or line ends"}, got); diff != "" {
			t.Error(diff)
		}
	}
	if got := (&Error{Problem: "p"}).Error(); got != "p" {
		t.Errorf("without an input: %q", got)
	}
}

// Every word that a problem leaves to the front ends is an input or has advice
// of the Action's.
func TestWords(t *testing.T) {
	t.Parallel()
	declared, _, _ := readMetadata(t)
	left := regexp.MustCompile(`\{([a-z-]+)\}`)
	found := 0
	for _, file := range []string{"../options/options.go", "../options/target.go", "../options/config.go", "../options/header.go", "../configfile/variables.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range left.FindAllStringSubmatch(string(text), -1) {
			found++
			word := words(m[1])
			isInput := slices.ContainsFunc(declared, func(in item) bool { return in.name == word })
			if !isInput && word == m[1] || strings.Contains(word, "--") {
				t.Errorf("%s: the Action has no word for %s", file, m[0])
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d words found", found)
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ value, want string }{
		{"", ""},
		{" \n", ""},
		{"Bearer s3cret-value", "::add-mask::Bearer s3cret-value\n::add-mask::s3cret-value\n"},
		{"Bearer   s3cret-value \n", "::add-mask::Bearer   s3cret-value\n::add-mask::s3cret-value\n"},
		{"token", "::add-mask::token\n"},
		{"Basic short", "::add-mask::Basic short\n"}, // five letters would hide half the log
		{"a%b\nc", "::add-mask::a%25b%0Ac\n"},
	} {
		a, out := newAction(t, inputs("http-authorization", row.value))
		a.Mask()
		if out.String() != row.want {
			t.Errorf("%q: wrote %q, want %q", row.value, out, row.want)
		}
	}
}

func TestMaskHeaders(t *testing.T) {
	t.Parallel()
	a, out := newAction(t, inputs("http-headers", "X-A: s3cret-value\r\nX-B: Bearer s3cret-other\nX-Read-Only: true\nX-N: 12\nbroken"))
	a.Mask()
	want := "::add-mask::s3cret-value\n::add-mask::Bearer s3cret-other\n::add-mask::s3cret-other\n"
	if out.String() != want {
		t.Errorf("wrote %q, want %q", out, want)
	}
	a, out = newAction(t, nil)
	a.MaskHeaders(options.Target{Entries: []options.Entry{{Launch: &options.Launch{}}, {Endpoint: &options.Endpoint{Headers: []options.Header{{Name: "X", Value: options.NewSecret("Bearer from-the-file")}}}}}})
	if want := "::add-mask::Bearer from-the-file\n::add-mask::from-the-file\n"; out.String() != want {
		t.Errorf("wrote %q, want %q", out, want)
	}
}

// TestMaskVariable: what is sent is masked, wherever it comes from.
func TestMaskVariable(t *testing.T) {
	t.Setenv("MCPEVAL_HTTP_AUTHORIZATION", "Bearer from-the-variable")
	a, out := newAction(t, with())
	a.Mask()
	if !strings.HasPrefix(out.String(), "::add-mask::Bearer from-the-variable\n") {
		t.Errorf("wrote %q", out)
	}
	in, err := a.Inputs()
	if err != nil || in.Raw.Authorization == nil || *in.Raw.Authorization != "Bearer from-the-variable" {
		t.Errorf("authorization %v, %v", in.Raw.Authorization, err)
	}
	a, out = newAction(t, with("http-authorization", "from-the-input"))
	a.Mask()
	if in, err := a.Inputs(); err != nil || *in.Raw.Authorization != "from-the-input" || !strings.HasPrefix(out.String(), "::add-mask::from-the-input\n") {
		t.Errorf("the input does not win: %v, %v, %q", in.Raw.Authorization, err, out)
	}
	t.Setenv("MCPEVAL_HTTP_AUTHORIZATION", "")
	a, out = newAction(t, with())
	a.Mask()
	if out.Len() > 0 {
		t.Errorf("an empty value was masked: %q", out)
	}
	if got := refusal(t, with()); got != "http-authorization" {
		t.Errorf("the error names %q", got)
	}
}

// TestNoWorkspace: the log can still say what is wrong.
func TestNoWorkspace(t *testing.T) {
	t.Setenv("GITHUB_WORKSPACE", t.TempDir()+"/none")
	var out bytes.Buffer
	_, err := New(&out).Inputs()
	var invalid *Error
	if !errors.As(err, &invalid) || invalid.Input != "" || !strings.Contains(err.Error(), "actions/checkout") {
		t.Errorf("%v", err)
	}
}
