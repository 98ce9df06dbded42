package action

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/options"
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

func TestInputs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		environ map[string]string
		get     func(Inputs, options.Options) any
		want    any
	}{
		{"server", with(), func(_ Inputs, o options.Options) any { return o.Server }, "label"},
		{"server, blanks", with("server", " \t label\r\n"), func(_ Inputs, o options.Options) any { return o.Server }, "label"},
		{"settle-ms", with("settle-ms", " 0 "), func(_ Inputs, o options.Options) any { return o.Settle.Milliseconds() }, int64(0)},
		{"settle-ms, empty", with("settle-ms", ""), func(_ Inputs, o options.Options) any { return o.Settle.Milliseconds() }, int64(1500)},
		{"settle-ms, blank", with("settle-ms", " \n"), func(_ Inputs, o options.Options) any { return o.Settle.Milliseconds() }, int64(1500)},
		{"timeout-ms", with("timeout-ms", "600000\n"), func(_ Inputs, o options.Options) any { return o.Timeout.Milliseconds() }, int64(600000)},
		{"jobs", with("jobs", "1"), func(_ Inputs, o options.Options) any { return o.Jobs }, 1},
		{"url", with("server-command", "", "url", " http://127.0.0.1:3000/mcp\n"), func(_ Inputs, o options.Options) any { return o.Endpoint.String() }, "http://127.0.0.1:3000/mcp"},
		{"allow-remote-http", with("server-command", " ", "url", "https://example.com", "allow-remote-http", " true\n"), func(_ Inputs, o options.Options) any { return o.Loopback }, false},
		{"http-authorization", with("http-authorization", "Bearer  secret\n"), func(_ Inputs, o options.Options) any { return o.Authorization }, "Bearer  secret"},
		{"profiles, empty", with("profiles", ""), func(_ Inputs, o options.Options) any { return len(o.Profiles) }, 5},
		{"report-path", with("report-path", " ./out/../r.json "), func(in Inputs, _ options.Options) any { return in.ReportPath }, "r.json"},
		{"report-path, empty", with("report-path", ""), func(in Inputs, _ options.Options) any { return in.ReportPath }, DefaultReportPath},
		{"start-command", with("server-command", "", "url", "http://localhost:1", "start-command", `serve "a b"`), func(in Inputs, _ options.Options) any { return in.StartCommand }, []string{"serve", "a b"}},
		{"no start-command", with(), func(in Inputs, _ options.Options) any { return in.StartCommand }, []string(nil)},
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

func TestLists(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                           nil,
		" \r\n\t":                    nil,
		"a":                          {"a"},
		"a,b":                        {"a", "b"},
		"a, b ,c":                    {"a", "b", "c"},
		"a b\tc":                     {"a", "b", "c"},
		"\na\n\n  b\n\n":             {"a", "b"},
		"a\r\nb\r\n\r\nc\r\n":        {"a", "b", "c"},
		",a,,b,":                     {"a", "b"},
		"b,a,b":                      {"b", "a", "b"},
		"- a":                        {"-", "a"},
		"a;b":                        {"a;b"},
		"'a'":                        {"'a'"},
		"::error::x,\n::set-output:": {"::error::x", "::set-output:"},
	} {
		environ := with("require-tools", text, "acknowledge", text, "profiles", text, "instructions-file", text)
		a, _ := newAction(t, environ)
		for _, input := range []string{"require-tools", "acknowledge", "profiles", "instructions-file"} {
			got, err := a.list(input)
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %q:\n%s", input, text, diff)
			}
		}
	}
}

func TestServerDefault(t *testing.T) {
	t.Parallel()
	for repository, want := range map[string]string{
		"owner/My.repo_1-x": "My.repo_1-x",
		"":                  "",
		"name":              "",
		"owner/":            "",
		"owner/a b":         "",
	} {
		environ := inputs("server-command", "program", "server", "  ")
		environ["GITHUB_REPOSITORY"] = repository
		if want == "" {
			if got := refusal(t, environ); got != "server" {
				t.Errorf("%q: the error names %q", repository, got)
			}
			continue
		}
		if _, opts := read(t, environ); opts.Server != want {
			t.Errorf("%q: server %q, want %q", repository, opts.Server, want)
		}
		environ["INPUT_SERVER"] = "given"
		if _, opts := read(t, environ); opts.Server != "given" {
			t.Errorf("%q: server %q although one was given", repository, opts.Server)
		}
	}
}

// TestCommand has what a shell would expand, split or end a command at (case
// 21): here it is all taken as it stands.
func TestCommand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`node server.js`:                    {"node", "server.js"},
		`a $HOME ${HOME} $(id) "$HOME" $$`:  {"a", "$HOME", "${HOME}", "$(id)", "$HOME", "$$"},
		"a `id` \"`id`\"":                   {"a", "`id`", "`id`"},
		`a; b;c && d || e & f | g`:          {"a;", "b;c", "&&", "d", "||", "e", "&", "f", "|", "g"},
		`a * ?.js [ab] {a,b} ~ ~/x`:         {"a", "*", "?.js", "[ab]", "{a,b}", "~", "~/x"},
		`a # b #c d#e`:                      {"a", "#", "b", "#c", "d#e"},
		`a > b < c 2>&1 <<x`:                {"a", ">", "b", "<", "c", "2>&1", "<<x"},
		`A=1 b`:                             {"A=1", "b"},
		`a !! !b`:                           {"a", "!!", "!b"},
		`"/with a blank/node" 'x y' z\ z`:   {"/with a blank/node", "x y", "z z"},
		`a "" ''`:                           {"a", "", ""},
		`a'b'"c"\d`:                         {"abcd"},
		`a "\x\$\"\\"`:                      {"a", `\x$"\`},
		`a '\x'`:                            {"a", `\x`},
		"npx\n  -y\n\n  @scope/name\n":      {"npx", "-y", "@scope/name"}, // a block value
		"npx\r\n-y\r\n@scope/name\r\n":      {"npx", "-y", "@scope/name"},
		"npx \\\n  -y \\\n  @scope/name\n":  {"npx", "-y", "@scope/name"},
		"npx \\\r\n  -y \\\r\n @scope/name": {"npx", "-y", "@scope/name"},
		"npx \\\n  -y \\\n":                 {"npx", "-y"}, // the last line ends like the others
		"npx -y @scope/name ":               {"npx", "-y", "@scope/name"},
		"a b\\ ":                            {"a", "b "},
		"a 'b\nc'":                          {"a", "b\nc"},
		"a \"b\\\nc\"":                      {"a", "bc"},
		`a \[ b`:                            {"a", "[", "b"},
		"a\u00a0b":                          {"a\u00a0b"},
		` ["node", "server.js"] `:           {"node", "server.js"},
		"[\n  \"node\",\n  \"a b\"\n]\n":    {"node", "a b"},
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
		"profile": "profiles", "require-tool": "require-tools", "command": "server-command",
		"target": "server-command, url, config", "url": "url", "settle-ms": "settle-ms", "server": "server",
	} {
		got := Explain(&options.Error{Option: option, Problem: "p"})
		if diff := cmp.Diff(&Error{Input: want, Problem: "p"}, got); diff != "" {
			t.Error(diff)
		}
	}
	if got := (&Error{Problem: "p"}).Error(); got != "p" {
		t.Errorf("without an input: %q", got)
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
