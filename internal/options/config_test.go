package options

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// configFile writes a file and returns the options that use it for server s.
func configFile(t *testing.T, text string) Raw {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Raw{Server: ptr("s"), Config: &file, Environ: []string{
		"SET=value", "EMPTY=", "DOLLAR=${SET}", "PORT=3000", "_U1=under",
		"GITHUB_OUTPUT=" + canary, "ACTIONS_X=" + canary, "INPUT_X=" + canary, "MCPEVAL_HTTP_AUTHORIZATION=" + canary,
	}}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		command    []string
		env        []string // beside what the environment had
		url        string
	}{
		{"a command", `{"mcpServers":{"s":{"command":"cmd"}}}`, []string{"cmd"}, nil, ""},
		{"command, args and env", `{"mcpServers":{"s":{"command":"npx","args":["-y","","a b"],"env":{"B":"2","A":"1"}}}}`,
			[]string{"npx", "-y", "", "a b"}, []string{"A=1", "B=2"}, ""},
		{"as VS Code has it", `{"servers":{"s":{"type":"stdio","command":"cmd"}},"inputs":[]}`, []string{"cmd"}, nil, ""},
		{"both keys", `{"servers":{"s":{"command":"two"}},"mcpServers":{"s":{"command":"one"}}}`, []string{"one"}, nil, ""},
		{"other keys and entries", `{"$schema":"x","mcpServers":{"t":5,"s":{"command":"cmd","type":"stdio","disabled":true,"alwaysAllow":["x"],"timeout":5}}}`,
			[]string{"cmd"}, nil, ""},
		{"empty and null members", `{"mcpServers":{"s":{"command":"cmd","args":null,"env":null,"url":null,"headers":{}}}}`, []string{"cmd"}, nil, ""},
		{"a URL", `{"mcpServers":{"s":{"type":"http","url":"http://127.0.0.1:3000/mcp"}}}`, nil, nil, "http://127.0.0.1:3000/mcp"},
		{"variables everywhere", `{"mcpServers":{"s":{"command":"${SET}","args":["--x=${SET}","${SET}${_U1}"],"env":{"K":"a${env:SET}b"}}}}`,
			[]string{"value", "--x=value", "valueunder"}, []string{"K=avalueb"}, ""},
		{"a variable in a URL", `{"mcpServers":{"s":{"url":"http://127.0.0.1:${PORT}/mcp"}}}`, nil, nil, "http://127.0.0.1:3000/mcp"},
		{"defaults", `{"mcpServers":{"s":{"command":"c","args":["${SET:-d}","${NO:-d}","${EMPTY:-d}","${NO:-}","${NO:-a:-b}","${env:NO:-d}","${NO:- x }"]}}}`,
			[]string{"c", "value", "d", "d", "", "a:-b", "d", " x "}, nil, ""},
		{"set and empty", `{"mcpServers":{"s":{"command":"c","args":["${EMPTY}"]}}}`, []string{"c", ""}, nil, ""},
		{"expanded once", `{"mcpServers":{"s":{"command":"c","args":["${DOLLAR}"]}}}`, []string{"c", "${SET}"}, nil, ""},
		{"no reference", `{"mcpServers":{"s":{"command":"c","args":["$SET","$$","{SET}","$(SET)","${SET","%SET%"]}}}`,
			[]string{"c", "$SET", "$$", "{SET}", "$(SET)", "${SET", "%SET%"}, nil, ""},
		{"env may overwrite", `{"mcpServers":{"s":{"command":"c","env":{"SET":"mine ${SET}"}}}}`, []string{"c"}, []string{"SET=mine value"}, ""},
		{"the runner's variables have a default like unset ones", `{"mcpServers":{"s":{"command":"c","args":["${GITHUB_OUTPUT:-d}","${ACTIONS_X:-d}","${INPUT_X:-d}"]}}}`,
			[]string{"c", "d", "d", "d"}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			opts, err := New(configFile(t, c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.command, opts.Command); diff != "" {
				t.Errorf("command: %s", diff)
			}
			wantEnv := slices.Concat([]string{"SET=value", "EMPTY=", "DOLLAR=${SET}", "PORT=3000", "_U1=under"}, c.env)
			if diff := cmp.Diff(wantEnv, opts.Environ); diff != "" {
				t.Errorf("environment: %s", diff)
			}
			url := ""
			if opts.Endpoint != nil {
				url = opts.Endpoint.String()
			}
			if url != c.url {
				t.Errorf("URL %q", url)
			}
		})
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	entry := func(body string) string { return `{"mcpServers":{"s":` + body + `}}` }
	for _, c := range []struct {
		name, text string
		option     string
		names      string // what the problem must name
	}{
		{"empty file", ``, "config", "not a JSON object"},
		{"malformed", `{"mcpServers":{"s":{"command":"` + canary + `"}}`, "config", "not a JSON object"},
		{"comments", "{// " + canary + "\n" + `"mcpServers":{}}`, "config", "comments"},
		{"trailing comma", `{"mcpServers":{"s":{"command":"c"},}}`, "config", "trailing commas"},
		{"trailing garbage", entry(`{"command":"c"}`) + canary, "config", "not a JSON object"},
		{"an array", `[]`, "config", "not a JSON object"},
		{"a string", `"` + canary + `"`, "config", "not a JSON object"},
		{"null", `null`, "config", "no key mcpServers"},
		{"no servers", `{"x":"` + canary + `"}`, "config", "no key mcpServers"},
		{"servers is null", `{"mcpServers":null}`, "config", "no key mcpServers"},
		{"servers is an array", `{"mcpServers":["` + canary + `"]}`, "config", "not a JSON object"},
		{"unknown server", `{"mcpServers":{"` + canary + `":{"command":"c"}}}`, "config", "mcpServers has no entry"},
		{"unknown server, VS Code", `{"servers":{"t":{"command":"c"}}}`, "config", "servers has no entry"},
		{"server in other case", `{"mcpServers":{"S":{"command":"c"}}}`, "config", "no entry"},
		{"no target", entry(`{"args":["` + canary + `"]}`), "config", "mcpServers.s: must have exactly one of command and url"},
		{"empty entry", entry(`{}`), "config", "exactly one"},
		{"null entry", entry(`null`), "config", "exactly one"},
		{"both", entry(`{"command":"` + canary + `","url":"http://127.0.0.1/"}`), "config", "mcpServers.s: must have exactly one"},
		{"entry is a string", entry(`"` + canary + `"`), "config", "mcpServers.s: command and url must be strings"},
		{"entry is an array", entry(`["` + canary + `"]`), "config", "mcpServers.s"},
		{"command is an array", entry(`{"command":["` + canary + `"]}`), "config", "mcpServers.s"},
		{"command is a number", entry(`{"command":5}`), "config", "mcpServers.s"},
		{"args is a string", entry(`{"command":"c","args":"` + canary + `"}`), "config", "mcpServers.s"},
		{"args holds a number", entry(`{"command":"c","args":[5]}`), "config", "mcpServers.s"},
		{"args holds null", entry(`{"command":"c","args":["a",null]}`), "config", "mcpServers.s"},
		{"env is an array", entry(`{"command":"c","env":["A=` + canary + `"]}`), "config", "mcpServers.s"},
		{"env holds a number", entry(`{"command":"c","env":{"A":5}}`), "config", "mcpServers.s"},
		{"env holds null", entry(`{"command":"c","env":{"A":null}}`), "config", "mcpServers.s"},
		{"url is a number", entry(`{"url":5}`), "config", "mcpServers.s"},
		{"headers", entry(`{"url":"http://127.0.0.1/","headers":{"Authorization":"` + canary + `"}}`), "config", "mcpServers.s.headers"},
		{"cwd", entry(`{"command":"c","cwd":"` + canary + `"}`), "config", "mcpServers.s.cwd"},
		{"envFile", entry(`{"command":"c","envFile":"` + canary + `"}`), "config", "mcpServers.s.envFile"},
		{"empty command", entry(`{"command":""}`), "command", ""},
		{"NUL in the command", entry(`{"command":"c\u0000` + canary + `"}`), "command", ""},
		{"NUL in an argument", entry(`{"command":"c","args":["` + canary + `\u0000"]}`), "command", ""},
		{"NUL in env", entry(`{"command":"c","env":{"KEY":"` + canary + `\u0000"}}`), "config", "mcpServers.s.env.KEY"},
		{"a variable's name has =", entry(`{"command":"c","env":{"A=` + canary + `":"x"}}`), "config", "mcpServers.s.env"},
		{"a variable's name is empty", entry(`{"command":"c","env":{"":"` + canary + `"}}`), "config", "mcpServers.s.env"},
		{"a variable's name has NUL", entry(`{"command":"c","env":{"A\u0000":"` + canary + `"}}`), "config", "mcpServers.s.env"},
		{"bad URL", entry(`{"url":"http://` + canary + `/"}`), "url", ""},
		{"empty URL", entry(`{"url":""}`), "url", ""},
		{"remote URL without the flag", entry(`{"url":"https://example.com/` + canary + `"}`), "url", "not loopback"},
		{"unset in command", entry(`{"command":"${NO}"}`), "config", "mcpServers.s.command: the variable NO is not set"},
		{"unset in args", entry(`{"command":"c","args":["` + canary + `${NO}"]}`), "config", "mcpServers.s.args: the variable NO"},
		{"unset in env", entry(`{"command":"c","env":{"KEY":"` + canary + `${NO}"}}`), "config", "mcpServers.s.env.KEY: the variable NO"},
		{"unset in env of an unusual name", entry(`{"command":"c","env":{"` + canary + ` /":"${NO}"}}`), "config", "the variable NO"},
		{"unset in the URL", entry(`{"url":"http://127.0.0.1/${NO}"}`), "config", "mcpServers.s.url: the variable NO"},
		{"unset with env:", entry(`{"command":"${env:NO}"}`), "config", "the variable NO"},
		{"one set, one not", entry(`{"command":"${SET}${NO}"}`), "config", "the variable NO"},
		{"VS Code's input", entry(`{"command":"c","args":["${input:` + canary + `}"]}`), "config", "${...}"},
		{"VS Code's folder", entry(`{"command":"${workspaceFolder}/x"}`), "config", "the variable workspaceFolder"},
		{"empty reference", entry(`{"command":"${}"}`), "config", "${...}"},
		{"shell's other forms", entry(`{"command":"${SET:+` + canary + `}"}`), "config", "${...}"},
		{"the runner's output file", entry(`{"command":"${GITHUB_OUTPUT}"}`), "config", "the variable GITHUB_OUTPUT is not set"},
		{"the runner's token", entry(`{"command":"c","env":{"T":"${ACTIONS_X}"}}`), "config", "the variable ACTIONS_X is not set"},
		{"an input", entry(`{"command":"c","args":["${INPUT_X}"]}`), "config", "the variable INPUT_X is not set"},
		{"our credential", entry(`{"command":"c","args":["${MCPEVAL_HTTP_AUTHORIZATION}"]}`), "config", "the variable MCPEVAL_HTTP_AUTHORIZATION is not set"},
		{"too large", entry(`{"command":"c"}`) + strings.Repeat(" ", 1<<20), "config", "1 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := refusal(t, configFile(t, c.text))
			if err == nil {
				t.Fatal("accepted")
			}
			if err.Option != c.option || !strings.Contains(err.Problem, c.names) {
				t.Errorf("got %q: %q, want %q: %q", err.Option, err.Problem, c.option, c.names)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("a value is echoed: %v", err)
			}
		})
	}
}

func TestConfigFiles(t *testing.T) {
	t.Parallel()
	fits := `{"mcpServers":{"s":{"command":"c"}}}`
	if err := refusal(t, configFile(t, fits+strings.Repeat(" ", 1<<20-len(fits)))); err != nil {
		t.Errorf("1 MiB: %v", err)
	}
	dir := t.TempDir()
	if err := refusal(t, Raw{Server: ptr("s"), Config: &dir}); err == nil || err.Option != "config" || strings.Contains(err.Error(), dir) {
		t.Errorf("a folder: %v", err)
	}
	raw := configFile(t, `{"mcpServers":{"a b":{"command":"c"},"s":{"url":"https://example.com/"}}}`)
	raw.Server = ptr("a b")
	if err := refusal(t, raw); err == nil || err.Option != "server" {
		t.Errorf("an entry whose name is no label: %v", err)
	}
	raw.Server, raw.AllowRemoteHTTP = ptr("s"), true
	if err := refusal(t, raw); err != nil {
		t.Errorf("a remote URL with the flag: %v", err)
	}
}

// One entry's errors come in the same order on every run.
func TestConfigErrorsAreDeterministic(t *testing.T) {
	t.Parallel()
	raw := configFile(t, `{"mcpServers":{"s":{"command":"c","env":{"A":"${NO1}","B":"${NO2}","C":"${NO3}","D":"${NO4}"}}}}`)
	want := fmt.Sprint(refusal(t, raw))
	for range 20 {
		if got := fmt.Sprint(refusal(t, raw)); got != want {
			t.Fatalf("%q, then %q", want, got)
		}
	}
	if !strings.Contains(want, "NO1") {
		t.Errorf("not the first: %s", want)
	}
}
