package options

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
)

func ptr(s string) *string { return &s }

// stdioRaw is the least that is valid for a stdio server.
func stdioRaw() Raw { return Raw{Server: ptr("s"), Command: []string{"cmd"}} }

func urlRaw(url string) Raw { return Raw{Server: ptr("s"), URL: &url} }

// refusal returns the option that New refuses, "" when it accepts.
func refusal(t *testing.T, raw Raw) *Error {
	t.Helper()
	opts, err := New(raw)
	if err == nil {
		return nil
	}
	var invalid *Error
	if !errors.As(err, &invalid) {
		t.Fatalf("%T is no *Error", err)
	}
	if invalid.Problem == "" || !strings.HasSuffix(err.Error(), invalid.Problem) {
		t.Errorf("problem %q, error %q", invalid.Problem, err)
	}
	if diff := cmp.Diff(fmt.Sprintf("%+v", Options{}), fmt.Sprintf("%+v", opts)); diff != "" {
		t.Errorf("options beside an error: %s", diff)
	}
	return invalid
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got, err := New(Raw{Server: ptr("s"), Command: []string{"cmd", "", "--x"}, Dir: "d", Environ: []string{"A=1"}})
	if err != nil {
		t.Fatal(err)
	}
	want := Options{
		Target: Target{Entries: []Entry{{Launch: &Launch{Args: []string{"cmd", "", "--x"}, Env: []string{"A=1"}, Dir: "d"}}}},
		Timing: Timing{Settle: 1500 * time.Millisecond, Timeout: time.Minute},
		Output: Output{Server: "s", Format: "text"},

		Profiles:  []profile.Profile{"none", "roots", "sampling", "elicitation", "all"},
		Protocols: []protocol.Version{"2025-06-18"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOptionsDoNotChangeWithRaw(t *testing.T) {
	t.Parallel()
	raw := stdioRaw()
	raw.RequireTools, raw.Environ, raw.Acknowledge = []string{"b", "a"}, []string{"INPUT_X=1", "A=1"}, []string{"d", "c"}
	opts, err := New(raw)
	if err != nil {
		t.Fatal(err)
	}
	raw.Command[0], raw.RequireTools[0], raw.Environ[1], raw.Acknowledge[1] = "other", "other", "other", "other"
	launch := opts.Target.Entries[0].Launch
	if diff := cmp.Diff([]string{"cmd", "A=1"}, slices.Concat(launch.Args, launch.Env)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Gate{Required: []name.Name{"a", "b"}, Acknowledged: []name.Name{"c", "d"}}, opts.Gate); diff != "" {
		t.Error(diff)
	}
	if raw.RequireTools[1] != "a" || raw.Environ[0] != "INPUT_X=1" {
		t.Error("New changed what it was given")
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	good := func(option string, texts ...string) (rows [][3]string) {
		for _, text := range texts {
			rows = append(rows, [3]string{option, text, ""})
		}
		return rows
	}
	bad := func(option string, texts ...string) (rows [][3]string) {
		for _, text := range texts {
			rows = append(rows, [3]string{option, text, option})
		}
		return rows
	}
	wrong := []string{"", " ", "-1", "-0", "+5", "00", "010", "05", "0x10", "0b1", "0o7", "1_500", "1e3", "1.0", "2000.", " 2000", "2000 ", "2000\n",
		"2,000", "\u0662\u0660\u0660\u0660", "1500ms", "99999999999999999999", "18446744073709552116", "nan"}
	rows := slices.Concat(
		good("settle-ms", "0", "1", "10", "4999", "5000"), bad("settle-ms", "5001", "999999999", "1000000000"), bad("settle-ms", wrong...),
		good("timeout-ms", "1000", "1001", "600000"), bad("timeout-ms", "0", "1", "999", "600001"), bad("timeout-ms", wrong...),
		good("jobs", "1", "2", "5"), bad("jobs", "0", "6", "01"), bad("jobs", wrong...),
	)
	for _, row := range rows {
		t.Run(fmt.Sprintf("%s %q", row[0], row[1]), func(t *testing.T) {
			t.Parallel()
			raw := stdioRaw()
			switch row[0] {
			case "settle-ms":
				raw.SettleMS = &row[1]
			case "timeout-ms":
				raw.TimeoutMS = &row[1]
			case "jobs":
				raw.Jobs = &row[1]
			}
			if err := refusal(t, raw); (err == nil) != (row[2] == "") || err != nil && err.Option != row[2] {
				t.Errorf("got %v, want refused: %q", err, row[2])
			}
			if row[2] != "" {
				return
			}
			opts, _ := New(raw)
			got := map[string]string{
				"settle-ms":  fmt.Sprint(opts.Timing.Settle.Milliseconds()),
				"timeout-ms": fmt.Sprint(opts.Timing.Timeout.Milliseconds()),
				"jobs":       fmt.Sprint(opts.Timing.Jobs),
			}[row[0]]
			if got != row[1] {
				t.Errorf("got %s", got)
			}
		})
	}
}

// nameCases are labels, required tools and acknowledged tools alike.
var nameCases = []struct {
	name  string
	valid bool
}{
	{"a", true}, {"A-Z_a.z:0", true}, {"-", true}, {".", true}, {"..", true}, {"::error::x", true}, {"0", true},
	{strings.Repeat("x", 128), true}, {strings.Repeat("x", 129), false},
	{"", false}, {" ", false}, {" a", false}, {"a ", false}, {"a b", false}, {"a\n", false}, {"\na", false}, {"a\x00", false},
	{"a,b", false}, {"a/b", false}, {"a@b", false}, {"`a`", false}, {"a#", false}, {"\u00e4", false}, {"a\u200b", false}, {"\xff", false}, {"\u0430", false},
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range nameCases {
		t.Run(fmt.Sprintf("%q", c.name), func(t *testing.T) {
			t.Parallel()
			for option, set := range map[string]func(*Raw){
				"server":       func(r *Raw) { r.Server = &c.name },
				"require-tool": func(r *Raw) { r.RequireTools = []string{"ok", c.name} },
				"acknowledge":  func(r *Raw) { r.Acknowledge = []string{c.name, "ok"} },
			} {
				raw := stdioRaw()
				set(&raw)
				if err := refusal(t, raw); (err == nil) != c.valid || err != nil && err.Option != option {
					t.Errorf("%s: %v", option, err)
				}
			}
		})
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	raw := stdioRaw()
	raw.Profiles = []string{"all", "none", "all", "roots"}
	raw.RequireTools = []string{"b", "a", "b", "B", "_"}
	raw.Acknowledge = []string{"z", "z"}
	opts, err := New(raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]profile.Profile{"none", "roots", "all"}, opts.Profiles); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]name.Name{"B", "_", "a", "b"}, opts.Gate.Required); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]name.Name{"z"}, opts.Gate.Acknowledged); diff != "" {
		t.Error(diff)
	}
}

func TestProfiles(t *testing.T) {
	t.Parallel()
	for _, p := range profile.Every() {
		raw := stdioRaw()
		raw.Profiles = []string{string(p)}
		opts, err := New(raw)
		if err != nil || len(opts.Profiles) != 1 || opts.Profiles[0] != p {
			t.Errorf("%s: %v, %v", p, opts.Profiles, err)
		}
	}
	for _, list := range [][]string{{}, {""}, {"none", ""}, {"None"}, {"none,all"}, {" none"}, {"tools"}, {"none\n"}} {
		raw := stdioRaw()
		raw.Profiles = list
		if err := refusal(t, raw); err == nil || err.Option != "profile" {
			t.Errorf("%q: %v", list, err)
		}
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		"text": true, "json": true, "markdown": true, "sarif": true, "": false, "TEXT": false, "Json": false, "yaml": false, "text ": false, "text,json": false,
	} {
		raw := stdioRaw()
		raw.Format = &text
		if err := refusal(t, raw); (err == nil) != valid || err != nil && err.Option != "format" {
			t.Errorf("%q: %v", text, err)
		}
		if opts, _ := New(raw); valid && string(opts.Output.Format) != text {
			t.Errorf("%q: %q", text, opts.Output.Format)
		}
	}
}

func TestURLs(t *testing.T) {
	t.Parallel()
	const (
		loopback = "loopback"
		remote   = "remote" // only with --allow-remote-http
		refused  = ""
	)
	long := "http://127.0.0.1/" + strings.Repeat("a", 8192-len("http://127.0.0.1/"))
	for _, c := range []struct{ url, want string }{
		{"http://127.0.0.1:3000/mcp", loopback},
		{"https://127.0.0.1/mcp", loopback},
		{"http://127.0.0.1", loopback},
		{"http://127.0.0.1:/mcp", loopback},
		{"http://127.0.0.1/a%20b?x=%23y&z", loopback},
		{"http://127.255.255.254/", loopback},
		{"http://[::1]:3000/mcp", loopback},
		{"http://[0:0:0:0:0:0:0:1]/", loopback},
		{"http://localhost:3000/mcp", loopback},
		{"http://LOCALHOST/", loopback},
		{"HTTP://LocalHost/", loopback},
		{"HTTPS://localhost/", loopback},
		{"http://127.0.0.1:1/", loopback},
		{"http://127.0.0.1:65535/", loopback},
		{long, loopback},

		{"https://example.com/mcp", remote},
		{"HTTPS://EXAMPLE.COM:8443/mcp", remote},
		{"https://127.0.0.1.example/", remote},
		{"https://localhost.example/", remote},
		{"https://localhost./", remote},
		{"https://xlocalhost/", remote},
		{"https://127.1/", remote},
		{"https://2130706433/", remote},
		{"https://0x7f000001/", remote},
		{"https://126.255.255.255/", remote},
		{"https://128.0.0.1/", remote},
		{"https://[::ffff:127.0.0.1]/", remote},
		{"https://[::2]/", remote},
		{"https://[::1%25lo]/", remote},
		{"https://10.0.0.1/", remote},

		{"http://example.com/", refused},
		{"http://127.0.0.1.example/", refused},
		{"http://localhost.example/", refused},
		{"http://127.1/", refused},
		{"http://2130706433/", refused},
		{"http://[::ffff:127.0.0.1]/", refused},
		{"http://[::1%25lo]/", refused},
		{"http://10.0.0.1/", refused},
		{"http://0.0.0.0:3000/mcp", refused},
		{"https://0.0.0.0/", refused},
		{"http://[::]/", refused},
		{"https://[::]/", refused},
		{"https://[0:0::0]/", refused},

		{"", refused},
		{" ", refused},
		{"127.0.0.1:3000", refused},
		{"localhost:3000/mcp", refused},
		{"//localhost/mcp", refused},
		{"/mcp", refused},
		{"http:", refused},
		{"http://", refused},
		{"http:///mcp", refused},
		{"https://", refused},
		{"https:///mcp", refused},
		{"https://:3000/mcp", refused},
		{"http://:3000/mcp", refused},
		{"http:localhost", refused},
		{"http:/localhost/mcp", refused},
		{"ws://localhost/", refused},
		{"ftp://localhost/", refused},
		{"file:///etc/passwd", refused},
		{"unix:///tmp/s", refused},
		{" http://localhost/", refused},
		{"http://localhost/\n", refused},
		{"http://localhost/\tx", refused},
		{"http://localhost/\x7f", refused},
		{"http://local host/", refused},
		{"http://localhost/a b", refused},
		{"http://localhost/?q=a b", refused},
		{"http://[::1/", refused},
		{"http://::1/", refused},
		{"http://127.0.0.1:0/", refused},
		{"http://127.0.0.1:65536/", refused},
		{"http://127.0.0.1:99999/", refused},
		{"http://127.0.0.1:99999999999999999999/", refused},
		{"http://127.0.0.1:-1/", refused},
		{"http://127.0.0.1:http/", refused},
		{"http://127.0.0.1/%zz", refused},
		{"http://user@127.0.0.1/", refused},
		{"http://user:pass@127.0.0.1/", refused},
		{"http://:@127.0.0.1/", refused},
		{"http://@127.0.0.1/", refused},
		{"https://127.0.0.1@example.com/", refused},
		{"http://127.0.0.1/#x", refused},
		{"http://127.0.0.1/#", refused},
		{"http://127.0.0.1#", refused},
		{long + "a", refused},
	} {
		t.Run(fmt.Sprintf("%.60q", c.url), func(t *testing.T) {
			t.Parallel()
			for _, allow := range []bool{false, true} {
				raw := urlRaw(c.url)
				raw.AllowRemoteHTTP = allow
				valid := c.want == loopback || c.want == remote && allow
				if err := refusal(t, raw); (err == nil) != valid || err != nil && err.Option != "url" {
					t.Errorf("allowed %v: %v", allow, err)
				}
				opts, _ := New(raw)
				if !valid {
					continue
				}
				if e := opts.Target.Entries[0]; e.Endpoint == nil || e.Launch != nil || e.Endpoint.Loopback != (c.want == loopback) {
					t.Errorf("allowed %v: %+v", allow, e)
				}
			}
		})
	}
}

// What is sent is what was given, but for the case of the scheme.
func TestEndpointKeepsTheURL(t *testing.T) {
	t.Parallel()
	const text = "http://127.0.0.1:3000/a%2Fb/?k=v%20w&k="
	opts, err := New(urlRaw(text))
	if err != nil || opts.Target.Entries[0].Endpoint.URL.String() != text {
		t.Errorf("%+v, %v", opts, err)
	}
}

func TestRemoteFlagAlone(t *testing.T) {
	t.Parallel()
	raw := stdioRaw()
	raw.AllowRemoteHTTP = true
	if err := refusal(t, raw); err != nil {
		t.Error(err)
	}
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value string
		valid bool
	}{
		{"x", true}, {"Bearer abc", true}, {strings.Repeat("x", 8192), true}, {"B\u00e4r", true}, {" ", true},
		{"", false}, {strings.Repeat("x", 8193), false}, {"a\n", false}, {"a\r\nX: y", false}, {"a\tb", false}, {"\x00", false}, {"a\x7f", false}, {"\x1f", false},
	} {
		for _, raw := range []Raw{stdioRaw(), urlRaw("http://127.0.0.1/")} {
			raw.Authorization = &c.value
			if err := refusal(t, raw); (err == nil) != c.valid || err != nil && err.Option != "http-authorization" {
				t.Errorf("%.20q: %v", c.value, err)
			}
			if c.valid && raw.URL != nil {
				if diff := cmp.Diff([]string{"Authorization: " + c.value}, sent(t, raw)); diff != "" {
					t.Error(diff)
				}
			}
		}
	}
}

// sent are the headers of the one endpoint, revealed.
func sent(t *testing.T, raw Raw) (list []string) {
	t.Helper()
	opts, err := New(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range opts.Target.Entries[0].Endpoint.Headers {
		list = append(list, h.Name+": "+h.Value.Reveal())
	}
	return list
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lines string
		want  []string
	}{
		{"", nil},
		{"X-Key: v", []string{"X-Key: v"}},
		{"X-A: 1\r\n\r\n  X-B:  2 : 3 \n", []string{"X-A: 1", "X-B: 2 : 3"}},
		{"Authorization: Basic x", []string{"Authorization: Basic x"}},
		{"x_!#$%&'*+.^`|~1: v", []string{"x_!#$%&'*+.^`|~1: v"}},
		{"McpX: v", []string{"McpX: v"}},
		{"X-Accept: v", []string{"X-Accept: v"}},
		{"X: " + strings.Repeat("v", 8192), []string{"X: " + strings.Repeat("v", 8192)}},
	} {
		raw := urlRaw("http://127.0.0.1/")
		raw.Headers = &c.lines
		if diff := cmp.Diff(c.want, sent(t, raw)); diff != "" {
			t.Errorf("%.40q: %s", c.lines, diff)
		}
	}
	// The variable of its own wins over any other Authorization.
	raw := urlRaw("http://127.0.0.1/")
	raw.Headers, raw.Authorization = ptr("authorization: lines\nX: v"), ptr("variable")
	if diff := cmp.Diff([]string{"X: v", "Authorization: variable"}, sent(t, raw)); diff != "" {
		t.Error(diff)
	}
}

func TestRefusedHeaders(t *testing.T) {
	t.Parallel()
	many := ""
	for i := range MaxHeaders + 1 {
		many += fmt.Sprintf("X-%d: v\n", i)
	}
	for lines, want := range map[string]string{
		canary:                            "line 1: must be a header, as in X-Api-Key: value",
		"X: v\n\n" + canary:               "line 3: must be a header, as in X-Api-Key: value",
		": " + canary:                     "line 1: a header's name must be letters, digits and - with no blank, as in X-Api-Key: value",
		"X Y: " + canary:                  "line 1: a header's name must be letters, digits and - with no blank, as in X-Api-Key: value",
		"X : " + canary:                   "line 1: a header's name must be letters, digits and - with no blank, as in X-Api-Key: value",
		"\u00e4: " + canary:               "line 1: a header's name must be letters, digits and - with no blank, as in X-Api-Key: value",
		"X:":                              "line 1: a header's value must have 1 to 8192 bytes",
		"X: " + strings.Repeat("v", 8193): "line 1: a header's value must have 1 to 8192 bytes",
		"X: a\tb":                         "line 1: a header's value must not have control characters, such as a line break",
		"X: a\rb":                         "line 1: a header's value must not have control characters, such as a line break",
		"X: 1\nx: 2":                      "line 2: this header is there twice",
		"accept: x":                       "line 1: Accept is set by the check itself: leave it out",
		"CONTENT-TYPE: x":                 "line 1: Content-Type is set by the check itself: leave it out",
		"Host: x":                         "line 1: Host is set by the check itself: leave it out",
		"Content-Length: 1":               "line 1: Content-Length is set by the check itself: leave it out",
		"Connection: x":                   "line 1: Connection is set by the check itself: leave it out",
		"Transfer-Encoding: x":            "line 1: Transfer-Encoding is set by the check itself: leave it out",
		"Mcp-Session-Id: x":               "line 1: headers that begin with Mcp- are set by the check itself: leave them out",
		"MCP-Protocol-Version: x":         "line 1: headers that begin with Mcp- are set by the check itself: leave them out",
		many:                              "more than 32 headers",
	} {
		for _, raw := range []Raw{stdioRaw(), urlRaw("http://127.0.0.1/")} {
			raw.Headers = &lines
			err := refusal(t, raw)
			if err == nil || err.Option != "http-headers" || err.Problem != want {
				t.Errorf("%.40q: %v", lines, err)
			}
		}
	}
}

func TestSecret(t *testing.T) {
	t.Parallel()
	h := Header{"X", NewSecret(canary)}
	encoded, _ := json.Marshal(h)
	if inside := fmt.Sprintf("%v %+v", struct{ h Header }{h}, struct{ s Secret }{h.Value}); strings.Contains(inside, canary) {
		t.Errorf("in an unexported field: %q", inside)
	}
	if h.Value.Reveal() != canary || (Secret{}).Reveal() != "" {
		t.Error("not revealed")
	}
	for _, printed := range []string{
		fmt.Sprint(h), fmt.Sprintf("%+v %#v %s %q %x", h, h, h, h, h), fmt.Sprintf("%v %v", &h, h.Value), h.Value.String(), h.Value.GoString(), string(encoded),
	} {
		if strings.Contains(printed, canary) || strings.Contains(printed, fmt.Sprintf("%x", canary)) || !strings.Contains(printed, stars) {
			t.Errorf("printed as %q", printed)
		}
	}
}

func TestProtocols(t *testing.T) {
	t.Parallel()
	raw := stdioRaw()
	raw.Protocols = []string{"2026-07-28", "2024-11-05", "2026-07-28"}
	if opts, err := New(raw); err != nil || !slices.Equal(opts.Protocols, []protocol.Version{"2024-11-05", "2026-07-28"}) {
		t.Errorf("%v, %v", opts.Protocols, err)
	}
	for _, list := range [][]string{{}, {""}, {"2025-06-18", ""}, {"2025-6-18"}, {"latest"}, {"2025-06-18,2026-07-28"}, {" 2025-06-18"}} {
		raw.Protocols = list
		if err := refusal(t, raw); err == nil || err.Option != "protocol" {
			t.Errorf("%q: %v", list, err)
		}
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]References{
		"code":           {},
		"words":          {Words: true},
		"descriptions":   {Descriptions: true},
		"unlisted":       {Unlisted: true},
		"unlisted words": {Words: true, Unlisted: true},
		"all":            {true, true, true},
		"code all all":   {true, true, true},
	} {
		raw := stdioRaw()
		raw.References = strings.Fields(text)
		if opts, err := New(raw); err != nil || opts.References != want {
			t.Errorf("%q: %+v, %v", text, opts.References, err)
		}
	}
	for _, list := range [][]string{{}, {""}, {"code", ""}, {"Words"}, {"words,unlisted"}} {
		raw := stdioRaw()
		raw.References = list
		if err := refusal(t, raw); err == nil || err.Option != "references" {
			t.Errorf("%q: %v", list, err)
		}
	}
}

func TestCombinations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		raw  Raw
		want string // the refused option
	}{
		{"nothing", Raw{}, "target"},
		{"no target", Raw{Server: ptr("s")}, "target"},
		{"no server", Raw{Command: []string{"cmd"}}, "server"},
		{"no server, a URL", Raw{URL: ptr("http://127.0.0.1/")}, "server"},
		{"no server, a config", Raw{Config: ptr("f")}, "config"},
		{"an entry without a config", Raw{Server: ptr("s"), Command: []string{"cmd"}, Entries: []string{"e"}}, "entry"},
		{"a start-command without a URL", Raw{Server: ptr("s"), Command: []string{"cmd"}, StartCommand: []string{"cmd"}}, "start-command"},
		{"a start-command alone", Raw{Server: ptr("s"), StartCommand: []string{"cmd"}}, "target"},
		{"a start-command for a remote URL", Raw{Server: ptr("s"), URL: ptr("https://example.com"), AllowRemoteHTTP: true, StartCommand: []string{"cmd"}}, "start-command"},
		{"an empty start-command", Raw{Server: ptr("s"), URL: ptr("http://127.0.0.1/"), StartCommand: []string{}}, "start-command"},
		{"command and URL", Raw{Server: ptr("s"), Command: []string{"cmd"}, URL: ptr("http://127.0.0.1/")}, "target"},
		{"command and empty URL", Raw{Server: ptr("s"), Command: []string{"cmd"}, URL: ptr("")}, "target"},
		{"empty command and URL", Raw{Server: ptr("s"), Command: []string{}, URL: ptr("http://127.0.0.1/")}, "target"},
		{"command and config", Raw{Server: ptr("s"), Command: []string{"cmd"}, Config: ptr("f")}, "target"},
		{"URL and config", Raw{Server: ptr("s"), URL: ptr("http://127.0.0.1/"), Config: ptr("f")}, "target"},
		{"all three", Raw{Server: ptr("s"), Command: []string{"cmd"}, URL: ptr("http://127.0.0.1/"), Config: ptr("f")}, "target"},
		{"empty command", Raw{Server: ptr("s"), Command: []string{}}, "command"},
		{"empty command word", Raw{Server: ptr("s"), Command: []string{""}}, "command"},
		{"empty command word with arguments", Raw{Server: ptr("s"), Command: []string{"", "x"}}, "command"},
		{"NUL in the command", Raw{Server: ptr("s"), Command: []string{"a\x00b"}}, "command"},
		{"NUL in an argument", Raw{Server: ptr("s"), Command: []string{"a", "\x00"}}, "command"},
		{"a missing config file", Raw{Server: ptr("s"), Config: ptr("no-such-file")}, "config"},
		{"an empty config name", Raw{Server: ptr("s"), Config: ptr("")}, "config"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := refusal(t, c.raw)
			if err == nil || err.Option != c.want {
				t.Errorf("got %v, want %s refused", err, c.want)
			}
		})
	}
}

// A server must not be able to write our outputs or read our tokens.
func TestServerEnvironment(t *testing.T) {
	t.Parallel()
	raw := stdioRaw()
	raw.Environ = []string{
		"PATH=/bin", "HOME=/root", "INPUT_SERVER=x", "INPUT_REQUIRE-TOOLS=x", "INPUT_=x", "ACTIONS_RUNTIME_TOKEN=x", "ACTIONS_ID_TOKEN_REQUEST_URL=x",
		"GITHUB_OUTPUT=x", "GITHUB_ENV=x", "GITHUB_PATH=x", "GITHUB_STATE=x", "GITHUB_STEP_SUMMARY=x", "MCPEVAL_HTTP_AUTHORIZATION=x",
		"MCPEVAL_HTTP_HEADERS=x", "MCPEVAL_INPUT_TOKEN=x", "MCPEVAL_INPUTS=1",
		"GITHUB_REPOSITORY=a/b", "GITHUB_WORKSPACE=/w", "GITHUB_OUTPUT_X=1", "MY_INPUT_X=1", "INPUTS=1", "ACTIONS=1", "EMPTY=", "NOEQUALS",
	}
	opts, err := New(raw)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"PATH=/bin", "HOME=/root", "MCPEVAL_INPUTS=1", "GITHUB_REPOSITORY=a/b", "GITHUB_WORKSPACE=/w", "GITHUB_OUTPUT_X=1", "MY_INPUT_X=1", "INPUTS=1", "ACTIONS=1", "EMPTY=", "NOEQUALS"}
	if diff := cmp.Diff(want, opts.Target.Entries[0].Launch.Env); diff != "" {
		t.Error(diff)
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	err := &Error{Option: "jobs", Problem: "see {url} and {http-headers}, not ${X:-y} or {}"}
	if got := err.Error(); got != "jobs: "+err.Problem {
		t.Errorf("%q", got)
	}
	if got := err.In(strings.ToUpper); got != "see URL and HTTP-HEADERS, not ${X:-y} or {}" {
		t.Errorf("%q", got)
	}
}

// canary stands for a secret: it is put into every value in turn, and no
// error may repeat it.
const canary = "c4n4ry-s3cr3t"

func TestErrorsNeverEcho(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		canary, " " + canary, canary + "\n", canary + "\x00", "http://" + canary, "http://" + canary + ":0/", "https://" + canary + "/", canary + "://x",
		"http://" + canary + "@127.0.0.1/", "http://127.0.0.1/#" + canary, "http://127.0.0.1:" + canary, "http://[" + canary, "http://127.0.0.1/%zz" + canary,
		"", strings.Repeat(canary, 1000), "${" + canary + "}",
	} {
		for option, set := range map[string]func(*Raw){
			"server":        func(r *Raw) { r.Server = &value },
			"profile":       func(r *Raw) { r.Profiles = []string{value} },
			"require-tool":  func(r *Raw) { r.RequireTools = []string{value} },
			"acknowledge":   func(r *Raw) { r.Acknowledge = []string{value} },
			"settle-ms":     func(r *Raw) { r.SettleMS = &value },
			"timeout-ms":    func(r *Raw) { r.TimeoutMS = &value },
			"jobs":          func(r *Raw) { r.Jobs = &value },
			"format":        func(r *Raw) { r.Format = &value },
			"url":           func(r *Raw) { r.URL, r.Command = &value, nil },
			"url too":       func(r *Raw) { r.URL = &value },
			"config":        func(r *Raw) { r.Config, r.Command = &value, nil },
			"protocol":      func(r *Raw) { r.Protocols = []string{value} },
			"references":    func(r *Raw) { r.References = []string{value} },
			"headers":       func(r *Raw) { r.Headers = &value },
			"a header":      func(r *Raw) { line := "X: " + value; r.Headers = &line },
			"authorization": func(r *Raw) { r.Authorization = &value },
			"command":       func(r *Raw) { r.Command = []string{value} },
			"argument":      func(r *Raw) { r.Command = []string{"a", value} },
		} {
			raw := stdioRaw()
			set(&raw)
			if err := refusal(t, raw); err != nil && strings.Contains(err.Error(), canary) {
				t.Errorf("%s: %q is echoed: %v", option, value, err)
			}
		}
	}
}
