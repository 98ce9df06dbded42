package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/strictjson"
)

func (c class) String() string {
	return [...]string{"noise", "malformed", "tooDeep", "batch", "response", "request", "notification"}[c]
}

// parseCases are judged while our request 7 is due, except where pending says
// otherwise.
var parseCases = []struct {
	name    string
	text    string
	pending int // 0: 7; -1: none is due
	want    class
}{
	// Noise: no JSON, or JSON without a jsonrpc key that does not answer us.
	{"empty", ``, 0, noise},
	{"blank", " \t", 0, noise},
	{"banner", `Server listening on stdio`, 0, noise},
	{"bracketed log", `[info] started`, 0, noise},
	{"broken JSON", `{"jsonrpc":"2.0","id":7,"result":{}`, 0, noise},
	{"trailing garbage", `{"jsonrpc":"2.0","id":7,"result":{}} x`, 0, noise},
	{"two messages on a line", `{"jsonrpc":"2.0","id":7,"result":{}}{"jsonrpc":"2.0","method":"x"}`, 0, noise},
	{"byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":7,"result":{}}`, 0, noise},
	{"invalid UTF-8 outside strings", "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\xff", 0, noise},
	{"a number", `7`, 0, noise},
	{"a string", `"jsonrpc"`, 0, noise},
	{"null", `null`, 0, noise},
	{"JSON log", `{"level":"info","msg":"started","id":7}`, 0, noise},
	{"JSON log with an error", `{"level":"error","error":"x"}`, 0, noise},
	{"JSON log with repeated keys", `{"a":1,"a":2}`, 0, noise},
	{"JSON log that is no UTF-8", "{\"msg\":\"\xff\"}", 0, noise},
	{"JSON log that is deep", arrays(300), 0, noise},
	{"another id", `{"id":8,"result":{}}`, 0, noise},
	{"our id as a string", `{"id":"7","result":{}}`, 0, noise},
	{"our id, no answer", `{"id":7,"method":"x"}`, 0, noise},
	{"answers nothing that is due", `{"id":7,"result":{}}`, -1, noise},
	{"id 0 when none is due", `{"id":0,"result":{}}`, -1, noise},
	{"jsonrpc deeper", `{"a":{"jsonrpc":"2.0"},"id":8,"result":{}}`, 0, noise},
	{"JSONRPC", `{"JSONRPC":"2.0","id":8,"result":{}}`, 0, noise},

	// Batches: an array that holds a message is one, any other is noise.
	{"batch of our answer", `[{"jsonrpc":"2.0","id":7,"result":{}}]`, 0, batch},
	{"batch, message last", `[1,"x",[],{},{"id":7,"jsonrpc":null}]`, 0, batch},
	{"batch with blanks", " [ { \"jsonrpc\" : \"2.0\" } ] ", 0, batch},
	{"batch of an escaped key", `[{"\u006asonrpc":"2.0"}]`, 0, batch},
	{"empty array", `[]`, 0, batch},
	{"array without a message", `[{"id":7,"result":{}},"jsonrpc"]`, 0, noise},
	{"message deeper in arrays", `[[{"jsonrpc":"2.0"}]]`, 0, noise},

	// Answers.
	{"result", `{"jsonrpc":"2.0","id":7,"result":{}}`, 0, response},
	{"error", `{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"x"}}`, 0, response},
	{"null result", `{"jsonrpc":"2.0","id":7,"result":null}`, 0, response},
	{"other order, blanks, other keys", " \t{ \"_meta\" : {} , \"result\" : [ ] , \"id\" : 7 , \"jsonrpc\" : \"2.0\" } \r", 0, response},
	{"escaped version", `{"jsonrpc":"\u0032.0","id":7,"result":{}}`, 0, response},
	{"escaped keys", `{"\u006asonrpc":"2.0","\u0069d":7,"r\u0065sult":{}}`, 0, response},
	{"lone surrogate", `{"jsonrpc":"2.0","id":7,"result":"\ud800"}`, 0, response},
	{"id 10", `{"jsonrpc":"2.0","id":10,"result":{}}`, 10, response},
	{"256 levels", `{"jsonrpc":"2.0","id":7,"result":` + arrays(255) + `}`, 0, response},
	{"257 levels", `{"jsonrpc":"2.0","id":7,"result":` + arrays(256) + `}`, 0, tooDeep},
	{"257 levels without jsonrpc", `{"id":7,"result":` + arrays(256) + `}`, 0, tooDeep},
	{"257 levels, the wrong id", `{"jsonrpc":"2.0","id":8,"result":` + arrays(256) + `}`, 0, tooDeep},
	{"257 levels in a notification", `{"jsonrpc":"2.0","method":"x","params":` + arrays(256) + `}`, 0, tooDeep},

	// What breaks the rules.
	{"both", `{"jsonrpc":"2.0","id":7,"result":{},"error":{}}`, 0, malformed},
	{"both, one null", `{"jsonrpc":"2.0","id":7,"result":{},"error":null}`, 0, malformed},
	{"neither", `{"jsonrpc":"2.0","id":7}`, 0, malformed},
	{"only jsonrpc", `{"jsonrpc":"2.0"}`, 0, malformed},
	{"no jsonrpc, result for us", `{"id":7,"result":{}}`, 0, malformed},
	{"no jsonrpc, error for us", `{"id":7,"error":{}}`, 0, malformed},
	{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":7,"result":{}}`, 0, malformed},
	{"jsonrpc 2", `{"jsonrpc":2.0,"id":7,"result":{}}`, 0, malformed},
	{"jsonrpc null", `{"jsonrpc":null,"id":7,"result":{}}`, 0, malformed},
	{"jsonrpc 2.00", `{"jsonrpc":"2.00","id":7,"result":{}}`, 0, malformed},
	{"another's id", `{"jsonrpc":"2.0","id":8,"result":{}}`, 0, malformed},
	{"id of an earlier request", `{"jsonrpc":"2.0","id":6,"result":{}}`, 0, malformed},
	{"an answer when none is due", `{"jsonrpc":"2.0","id":7,"result":{}}`, -1, malformed},
	{"id 0 answers nothing", `{"jsonrpc":"2.0","id":0,"result":{}}`, -1, malformed},
	{"string id", `{"jsonrpc":"2.0","id":"7","result":{}}`, 0, malformed},
	{"fractional id", `{"jsonrpc":"2.0","id":7.0,"result":{}}`, 0, malformed},
	{"null id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, 0, malformed},
	{"no id", `{"jsonrpc":"2.0","result":{}}`, 0, malformed},
	{"id array", `{"jsonrpc":"2.0","id":[7],"result":{}}`, 0, malformed},
	{"Result", `{"jsonrpc":"2.0","id":7,"Result":{}}`, 0, malformed},
	{"ID", `{"jsonrpc":"2.0","ID":7,"result":{}}`, 0, malformed},
	{"repeated key", `{"jsonrpc":"2.0","id":7,"result":{},"result":{}}`, 0, malformed},
	{"repeated key of any sort", `{"jsonrpc":"2.0","id":7,"result":{},"x":1,"x":1}`, 0, malformed},
	{"repeated key in the result", `{"jsonrpc":"2.0","id":7,"result":{"a":[{"b":1,"b":1}]}}`, 0, malformed},
	{"repeated jsonrpc", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":7,"result":{}}`, 0, malformed},
	{"repeated id", `{"jsonrpc":"2.0","id":7,"id":7,"result":{}}`, 0, malformed},
	{"repeated key without jsonrpc", `{"id":7,"result":{},"result":{}}`, 0, malformed},
	{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":\"\xff\"}}", 0, malformed},
	{"invalid UTF-8 without jsonrpc", "{\"id\":7,\"result\":{\"a\":\"\xff\"}}", 0, malformed},

	// Requests and notifications of the server.
	{"request", `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, 0, request},
	{"request with our id", `{"jsonrpc":"2.0","id":7,"method":"ping","params":{}}`, 0, request},
	{"request with a string id", `{"jsonrpc":"2.0","id":"","method":"x"}`, 0, request},
	{"request with a negative id", `{"jsonrpc":"2.0","id":-1.5e3,"method":"x"}`, 0, request},
	{"request when nothing is due", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, -1, request},
	{"notification", `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}`, 0, notification},
	{"notification when nothing is due", `{"jsonrpc":"2.0","method":"x"}`, -1, notification},
	{"empty method", `{"jsonrpc":"2.0","method":""}`, 0, notification},
	{"null id", `{"jsonrpc":"2.0","id":null,"method":"x"}`, 0, malformed},
	{"boolean id", `{"jsonrpc":"2.0","id":true,"method":"x"}`, 0, malformed},
	{"object id", `{"jsonrpc":"2.0","id":{},"method":"x"}`, 0, malformed},
	{"method and result", `{"jsonrpc":"2.0","id":7,"method":"x","result":{}}`, 0, malformed},
	{"method and error", `{"jsonrpc":"2.0","method":"x","error":{}}`, 0, malformed},
	{"method is no string", `{"jsonrpc":"2.0","id":1,"method":1}`, 0, malformed},
	{"method is null", `{"jsonrpc":"2.0","method":null}`, 0, malformed},
	{"request of 1.0", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, 0, malformed},
	{"request without jsonrpc", `{"id":1,"method":"ping"}`, 0, noise},
	{"request with a repeated key", `{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}`, 0, malformed},
	{"notification with invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", 0, malformed},
}

func due(pending int) int {
	switch pending {
	case 0:
		return 7
	case -1:
		return 0
	}
	return pending
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range parseCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := parse([]byte(c.text), due(c.pending)); got.class != c.want {
				t.Errorf("%.200q is %s, want %s", c.text, got.class, c.want)
			}
		})
	}
}

// What parse holds of a message is what encoding/json sees of it.
func FuzzParse(f *testing.F) {
	for _, c := range parseCases {
		if len(c.text) < 10000 {
			f.Add([]byte(c.text), due(c.pending))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, pending int) {
		before := bytes.Clone(text)
		m := parse(text, pending)
		if !bytes.Equal(text, before) {
			t.Fatal("parse changed the text")
		}
		if m.class == noise {
			if m.id != nil || m.method != "" || m.result != nil || m.err != nil {
				t.Error("noise that holds something")
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%s, but no JSON", m.class)
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(text, &object) != nil {
			if m.class != batch && m.class != tooDeep {
				t.Fatalf("%s, but no object", m.class)
			}
			return
		}
		switch m.class {
		case response:
			if pending == 0 || string(object["id"]) != fmt.Sprint(pending) || (m.result == nil) == (m.err == nil) || m.method != "" {
				t.Error("no response to what is due")
			}
			if !bytes.Equal(m.result, object["result"]) || !bytes.Equal(m.err, object["error"]) {
				t.Error("another result")
			}
		case request:
			if !strictjson.IsString(m.id) && !strictjson.IsNumber(m.id) || !bytes.Equal(m.id, object["id"]) || m.result != nil || m.err != nil {
				t.Error("no request")
			}
		case notification:
			if m.id != nil || m.result != nil || m.err != nil || object["id"] != nil {
				t.Error("no notification")
			}
		}
		if m.class == response || m.class == request || m.class == notification {
			var version string
			if json.Unmarshal(object["jsonrpc"], &version) != nil || version != "2.0" {
				t.Errorf("%s with jsonrpc %s", m.class, object["jsonrpc"])
			}
			if v := strictjson.Examine(text); !v.Clean() {
				t.Errorf("%+v, but %+v", m.class, v)
			}
		}
		// Whatever it is, judging it further does not fail.
		if m.class == response {
			asked.readInitialized(m)
			readPage(m, func(string) *Fault { return nil })
		}
		(&exchange{rootsDeclared: true, pending: pending}).take(text)
	})
}

// Only 2025-03-26 has batches: there, elements are taken in order.
func TestBatches(t *testing.T) {
	t.Parallel()
	const answer, ping = `{"jsonrpc":"2.0","id":7,"result":{}}`, `{"jsonrpc":"2.0","id":"p","method":"ping"}`
	for _, c := range []struct {
		version protocol.Version
		text    string
		class   class
		replies int
		rule    diagnosis.Rule
	}{
		{protocol.V20250326, `[` + answer + `]`, response, 0, ""},
		{protocol.V20250326, `[` + ping + `,` + answer + `,` + ping + `]`, response, 2, ""},
		{protocol.V20250326, `[` + ping + `]`, batch, 1, ""},
		{protocol.V20250326, `[]`, batch, 0, diagnosis.EmptyBatch},
		{protocol.V20250326, `[` + answer + `,` + answer + `]`, response, 0, diagnosis.WrongID},
		{protocol.V20250326, `[` + answer + `,5]`, response, 0, diagnosis.NotVersion2},
		{protocol.V20250326, `[[` + answer + `],` + answer + `]`, batch, 0, diagnosis.Batch},
		{protocol.V20241105, `[` + answer + `]`, batch, 0, diagnosis.Batch},
		{protocol.V20250618, `[` + answer + `]`, batch, 0, diagnosis.Batch},
		{protocol.V20251125, `[` + answer + `]`, batch, 0, diagnosis.Batch},
		{protocol.V20260728, `[` + answer + `]`, batch, 0, diagnosis.Batch},
		{protocol.V20250618, `[]`, noise, 0, ""},
	} {
		x := &exchange{version: c.version, pending: 7}
		m, replies, f := x.take([]byte(c.text))
		rule := diagnosis.Rule("")
		if f != nil {
			rule = f.Detail.Rule
		}
		if m.class != c.class || len(replies) != c.replies || rule != c.rule {
			t.Errorf("%s: %s: %s, %d replies, %q", c.version, c.text, m.class, len(replies), rule)
		}
	}
}

func TestBegin(t *testing.T) {
	t.Parallel()
	x := &exchange{roots: 5}
	for i, want := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"a"}}`,
	} {
		method, params := "initialize", `{}`
		if i == 1 {
			method, params = "tools/list", `{"cursor":"a"}`
		}
		if got := string(x.begin(method, params)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if x.pending != i+1 || x.roots != 0 {
			t.Errorf("pending %d, %d roots requests", x.pending, x.roots)
		}
		x.roots = 5
	}
}

// CONTRACT.md section 4.2: what is answered, and how.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const refused = `"error":{"code":-32601,"message":"Method not found"}}`
	for _, c := range []struct {
		roots bool
		text  string
		want  string
	}{
		{true, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`},
		{true, `{"jsonrpc":"2.0","id":"a\u0062\"","method":"roots/list"}`, `{"jsonrpc":"2.0","id":"a\u0062\"","result":{"roots":[]}}`},
		{true, `{"jsonrpc":"2.0","id":1.50e1,"method":"roots\/list"}`, `{"jsonrpc":"2.0","id":1.50e1,"result":{"roots":[]}}`},
		{false, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":1,` + refused},
		{false, `{"jsonrpc":"2.0","id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":7,"result":{}}`},
		{true, `{"jsonrpc":"2.0","id":"x","method":"ping","params":{}}`, `{"jsonrpc":"2.0","id":"x","result":{}}`},
		{true, `{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{}}`, `{"jsonrpc":"2.0","id":2,` + refused},
		{true, `{"jsonrpc":"2.0","id":3,"method":"elicitation/create"}`, `{"jsonrpc":"2.0","id":3,` + refused},
		{true, `{"jsonrpc":"2.0","id":4,"method":"Roots/List"}`, `{"jsonrpc":"2.0","id":4,` + refused},
		{true, `{"jsonrpc":"2.0","id":5,"method":""}`, `{"jsonrpc":"2.0","id":5,` + refused},
		{true, `{"jsonrpc":"2.0","method":"ping"}`, ``},
		{true, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, ``},
		{true, `a log`, ``},
	} {
		x := &exchange{rootsDeclared: c.roots, pending: 7}
		m, replies, f := x.take([]byte(c.text))
		if got := string(bytes.Join(replies, nil)); f != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.text, got, f, c.want)
		}
		if want := m.class == request; x.requests != map[bool]int{true: 1}[want] || x.pending != 7 {
			t.Errorf("%s: %d requests, pending %d", c.text, x.requests, x.pending)
		}
	}
}

// At most eight roots/list from one request of ours to the next; other
// requests do not count.
func TestRootsLimit(t *testing.T) {
	t.Parallel()
	x := &exchange{rootsDeclared: true}
	ask := func(method string) *Fault {
		_, _, f := x.take([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`))
		return f
	}
	for round := range 3 {
		x.begin("tools/list", "{}")
		for i := range 8 {
			if f := ask("roots/list"); f != nil {
				t.Fatalf("round %d, request %d: %v", round, i+1, f)
			}
			if f := ask("ping"); f != nil {
				t.Fatal(f)
			}
		}
	}
	if f := ask("roots/list"); f == nil || f.Code != diagnosis.RootsLimit {
		t.Errorf("the ninth: %v", f)
	}
	// Where roots were not declared, there is nothing to count.
	x = &exchange{}
	for range 20 {
		if f := ask("roots/list"); f != nil {
			t.Fatal(f)
		}
	}
}

func TestTakeFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]diagnosis.Code{
		`{"jsonrpc":"2.0","id":7,"result":` + arrays(256) + `}`: diagnosis.FrameLimit,
		`[{"jsonrpc":"2.0"}]`:                  diagnosis.MessageMalformed,
		`{"jsonrpc":"2.0","id":8,"result":{}}`: diagnosis.MessageMalformed,
	} {
		x := &exchange{pending: 7}
		if _, _, f := x.take([]byte(text)); f == nil || f.Code != want || f.Error() != string(want) {
			t.Errorf("%.60s: %v, want %s", text, f, want)
		}
	}
	// One answer is one answer.
	x := &exchange{pending: 7}
	answer := []byte(`{"jsonrpc":"2.0","id":7,"result":{}}`)
	if m, _, f := x.take(answer); f != nil || m.class != response || x.pending != 0 {
		t.Errorf("%s, %v, pending %d", m.class, f, x.pending)
	}
	if _, _, f := x.take(answer); f == nil || f.Code != diagnosis.MessageMalformed {
		t.Errorf("the second: %v", f)
	}
}

// answerWith is the answer to our request with a result or an error.
func answerWith(t *testing.T, member, value string) message {
	t.Helper()
	m := parse([]byte(`{"jsonrpc":"2.0","id":7,"`+member+`":`+value+`}`), 7)
	if m.class != response {
		t.Fatalf("%s is %s", value, m.class)
	}
	return m
}

func TestReadInitialized(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		result string
		want   Hello
		code   diagnosis.Code
		when   diagnosis.Circumstance
	}{
		{`{"protocolVersion":"2025-06-18","capabilities":{}}`, Hello{}, "", 0},
		{`{"capabilities":{"tools":{}},"protocolVersion":"2025-06-18","serverInfo":{"name":"x","version":"1"}}`, Hello{HasTools: true}, "", 0},
		{`{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"logging":null}}`, Hello{HasTools: true}, "", 0},
		{`{"protocolVersion":"2025-06-18","capabilities":{"Tools":null,"prompts":{}}}`, Hello{}, "", 0},
		{`{"protocolVersion":"2025-06-18","capabilities":{},"instructions":""}`, Hello{Instructions: text("")}, "", 0},
		{`{"protocolVersion":"2025-06-18","capabilities":{},"instructions":"a\n\"b\" \u0060t\u0060"}`, Hello{Instructions: text("a\n\"b\" `t`")}, "", 0},
		{`{"protocolVersion":"2025-06-18","capabilities":{},"instructions":"a\ud800b"}`, Hello{Instructions: text("a\ufffdb")}, "", 0},
		{`{"protocolVersion":"2025-06-18","capabilities":{},"Instructions":1}`, Hello{}, "", 0},
		{`{"protocolVersion":"2025\u002d06-18","capabilities":{}}`, Hello{}, "", 0},

		{`null`, Hello{}, diagnosis.InitializeError, 0},
		{`[]`, Hello{}, diagnosis.InitializeError, 0},
		{`"x"`, Hello{}, diagnosis.InitializeError, 0},
		{`true`, Hello{}, diagnosis.InitializeError, 0},
		{`{}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"capabilities":{}}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"ProtocolVersion":"2025-06-18","capabilities":{}}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"protocolVersion":"2025-06-18"}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"protocolVersion":"2025-06-18","Capabilities":{}}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"protocolVersion":"2025-06-18","capabilities":null}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"protocolVersion":"2025-06-18","capabilities":[]}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"protocolVersion":"2025-06-18","capabilities":"{}"}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"protocolVersion":"2025-06-18","capabilities":{"tools":null}}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"protocolVersion":"2025-06-18","capabilities":{"tools":true}}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"protocolVersion":"2025-06-18","capabilities":{"tools":[]}}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"protocolVersion":"2025-06-18","capabilities":{},"instructions":null}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"protocolVersion":"2025-06-18","capabilities":{},"instructions":["a"]}`, Hello{}, diagnosis.InitializeError, 0},
		{`{"protocolVersion":"2025-06-18","capabilities":{},"instructions":1}`, Hello{}, diagnosis.InitializeError, 0},

		{`{"protocolVersion":"2024-11-05","capabilities":{}}`, Hello{}, diagnosis.ProtocolVersion, diagnosis.OlderVersion},
		{`{"protocolVersion":"2025-03-26"}`, Hello{}, diagnosis.ProtocolVersion, diagnosis.OlderVersion},
		{`{"protocolVersion":"2025-11-25","capabilities":{}}`, Hello{}, diagnosis.ProtocolVersion, diagnosis.NewerVersion},
		{`{"protocolVersion":"2026-07-28","capabilities":{}}`, Hello{}, diagnosis.ProtocolVersion, diagnosis.NewerVersion},
		{`{"protocolVersion":"2025-6-18","capabilities":{}}`, Hello{}, diagnosis.ProtocolVersion, 0},
		{`{"protocolVersion":"","capabilities":{}}`, Hello{}, diagnosis.ProtocolVersion, 0},
		{`{"protocolVersion":" 2025-06-18","capabilities":{}}`, Hello{}, diagnosis.ProtocolVersion, 0},
		{`{"protocolVersion":"2025-06-18\n","capabilities":{}}`, Hello{}, diagnosis.ProtocolVersion, 0},
		{`{"protocolVersion":"draft","capabilities":{}}`, Hello{}, diagnosis.ProtocolVersion, 0},
		{`{"protocolVersion":20250618,"capabilities":{}}`, Hello{}, diagnosis.ProtocolVersion, 0},
		{`{"protocolVersion":null,"capabilities":{}}`, Hello{}, diagnosis.ProtocolVersion, 0},
	} {
		t.Run(c.result, func(t *testing.T) {
			t.Parallel()
			got, f := asked.readInitialized(answerWith(t, "result", c.result))
			if c.code == "" {
				if diff := cmp.Diff(c.want, got); f != nil || diff != "" {
					t.Errorf("%v %s", f, diff)
				}
				return
			}
			if f == nil || f.Code != c.code || f.When != c.when {
				t.Errorf("%+v, want %s %d", f, c.code, c.when)
			}
		})
	}
}

func TestInitializeRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  string
		code diagnosis.Code
		when diagnosis.Circumstance
	}{
		{`{"code":-32601,"message":"Method not found"}`, diagnosis.ProtocolVersion, diagnosis.LaterVersion},
		{`{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2025-06-18"}}`, diagnosis.ProtocolVersion, diagnosis.LaterVersion},
		{`{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05"],"requested":"2025-06-18"}}`, diagnosis.ProtocolVersion, 0},
		{`{"code":-32602,"message":"x","data":{"supported":["2024-11-05"]}}`, diagnosis.ProtocolVersion, 0},
		{`{"code":-32000,"message":"Bad Request: Unsupported protocol version (supported versions: 2025-03-26)"}`, diagnosis.ProtocolVersion, 0},
		{`{"code":-32000,"message":"Server's protocol version is not supported: x"}`, diagnosis.ProtocolVersion, 0},
		{`{"code":-32602,"message":"UNSUPPORTED protocolVersion"}`, diagnosis.ProtocolVersion, 0},
		{`{"code":-32602,"message":"Invalid params","data":{"supported":"2024-11-05"}}`, diagnosis.InitializeError, 0},
		{`{"code":-32602,"message":"Invalid params","data":["supported"]}`, diagnosis.InitializeError, 0},
		{`{"code":-32602,"message":"Unsupported capability"}`, diagnosis.InitializeError, 0},
		{`{"code":-32602,"message":"protocol version must be a string"}`, diagnosis.InitializeError, 0},
		{`{"code":"-32601","message":"x"}`, diagnosis.InitializeError, 0},
		{`{"code":-32603,"message":"Internal error"}`, diagnosis.InitializeError, 0},
		{`{"message":5}`, diagnosis.InitializeError, 0},
		{`{}`, diagnosis.InitializeError, 0},
		{`null`, diagnosis.InitializeError, 0},
		{`"Unsupported protocol version"`, diagnosis.InitializeError, 0},
		{`-32601`, diagnosis.InitializeError, 0},
	} {
		_, f := asked.readInitialized(answerWith(t, "error", c.err))
		if f == nil || f.Code != c.code || f.When != c.when {
			t.Errorf("%s: %+v, want %s %d", c.err, f, c.code, c.when)
		}
	}
}

func TestReadPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		result string
		tools  string
		cursor string // as it goes into the next request
		code   diagnosis.Code
	}{
		{`{"tools":[]}`, "", "", ""},
		{`{"tools":[{"name":"a","inputSchema":{}}]}`, "a", "", ""},
		{`{"_meta":{},"tools":[{"inputSchema":{"type":"object"},"description":"x","name":"b"},{"name":"\u0061","inputSchema":{}}]}`, "b a", "", ""},
		{`{"tools":[],"nextCursor":"c"}`, "", `"c"`, ""},
		{`{"nextCursor":"\u0061\"\n","tools":[]}`, "", `"\u0061\"\n"`, ""},
		{`{"nextCursor":" ","tools":[]}`, "", `" "`, ""},
		{`{"tools":[],"NextCursor":null,"cursor":5}`, "", "", ""},
		{`{"tools":[{"name":"","inputSchema":{}}]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"name":"a b","inputSchema":{}}]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"name":"\ud800","inputSchema":{}}]}`, "", "", diagnosis.EntryMalformed},

		{`null`, "", "", diagnosis.CatalogError},
		{`[]`, "", "", diagnosis.CatalogError},
		{`{}`, "", "", diagnosis.CatalogError},
		{`{"tools":null}`, "", "", diagnosis.CatalogError},
		{`{"tools":{}}`, "", "", diagnosis.CatalogError},
		{`{"tools":"[]"}`, "", "", diagnosis.CatalogError},
		{`{"Tools":[]}`, "", "", diagnosis.CatalogError},

		{`{"tools":[null]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":["a"]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[["a"]]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{}]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"name":"a"}]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"inputSchema":{}}]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"name":"a","inputSchema":null}]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"name":"a","inputSchema":true}]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"name":"a","inputSchema":[]}]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"name":"a","inputschema":{}}]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"name":null,"inputSchema":{}}]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"name":5,"inputSchema":{}}]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"Name":"a","inputSchema":{}}]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"name":"a","inputSchema":{}},{"name":"b"}]}`, "a", "", diagnosis.EntryMalformed},

		{`{"tools":[],"nextCursor":null}`, "", "", diagnosis.CursorMalformed},
		{`{"tools":[],"nextCursor":""}`, "", "", diagnosis.CursorMalformed},
		{`{"tools":[],"nextCursor":8}`, "", "", diagnosis.CursorMalformed},
		{`{"tools":[],"nextCursor":{}}`, "", "", diagnosis.CursorMalformed},
		{`{"tools":[],"nextCursor":["c"]}`, "", "", diagnosis.CursorMalformed},
		{`{"tools":[],"nextCursor":false}`, "", "", diagnosis.CursorMalformed},

		// The first fault in the order of the page.
		{`{"nextCursor":null,"tools":[null]}`, "", "", diagnosis.EntryMalformed},
		{`{"tools":[{"name":"full","inputSchema":{}},null]}`, "full", "", diagnosis.ToolLimit},
	} {
		t.Run(c.result, func(t *testing.T) {
			t.Parallel()
			var tools []string
			cursor, f := readPage(answerWith(t, "result", c.result), func(name string) *Fault {
				tools = append(tools, name)
				if name == "full" {
					return fault(diagnosis.ToolLimit)
				}
				return nil
			})
			if got := strings.Join(tools, " "); got != c.tools {
				t.Errorf("tools %q, want %q", got, c.tools)
			}
			if (f == nil) != (c.code == "") || f != nil && f.Code != c.code {
				t.Fatalf("%v, want %q", f, c.code)
			}
			if (cursor != nil) != (c.cursor != "") || cursor != nil && cursor.token != c.cursor {
				t.Errorf("cursor %+v, want %s", cursor, c.cursor)
			}
		})
	}
	if _, f := readPage(answerWith(t, "error", `{"code":-32601,"message":"x"}`), nil); f == nil || f.Code != diagnosis.CatalogError {
		t.Errorf("an error: %v", f)
	}
}

// Two spellings of one cursor are one cursor.
func TestCursorSum(t *testing.T) {
	t.Parallel()
	sum := func(cursor string) [32]byte {
		c, f := readPage(answerWith(t, "result", `{"tools":[],"nextCursor":`+cursor+`}`), nil)
		if f != nil {
			t.Fatal(f)
		}
		return c.Sum
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`"c"`, `"c"`, true}, {`"c"`, `"\u0063"`, true}, {`"/"`, `"\/"`, true}, {`"c"`, `"C"`, false}, {`"c"`, `"c "`, false}, {`"\ud800"`, `"\ud801"`, false},
	} {
		if same := sum(c.a) == sum(c.b); same != c.same {
			t.Errorf("%s and %s: same is %v", c.a, c.b, same)
		}
	}
}

// asked is the era of a session that asked for the default version.
var asked = handshake{Client{Version: "0", Protocol: protocol.Default, Capabilities: "{}"}}

// readPage reads a page of that era.
func readPage(m message, tool func(name string) *Fault) (*Cursor, *Fault) {
	s := &Session{era: asked}
	return s.readPage(m, func(t Tool) *Fault { return tool(string(t.Name)) })
}

func arrays(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
