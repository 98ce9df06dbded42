package mcp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/protocol"
)

var latest = Client{Version: "1.0", Protocol: protocol.V20260728, Capabilities: `{"roots":{}}`, DeclaresRoots: true}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"mcpeval","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`

// CONTRACT.md section 4.8: the answer to server/discover.
func TestReadDiscovered(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		result string
		code   diagnosis.Code
		ask    protocol.Version
	}{
		{`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`, "", ""},
		{`{"resultType":"complete","supportedVersions":["2025-11-25","2026-07-28"],"capabilities":{},"instructions":"","ttlMs":"x","cacheScope":5,"_meta":null}`, "", ""},
		{`{"resultType":"input_required","supportedVersions":["2026-07-28"],"capabilities":{}}`, diagnosis.ResultType, ""},
		{`{"resultType":null,"supportedVersions":["2026-07-28"],"capabilities":{}}`, diagnosis.ResultType, ""},
		{`{"supportedVersions":["2025-06-18","2025-11-25"],"capabilities":{}}`, diagnosis.ProtocolVersion, protocol.V20251125},
		{`{"supportedVersions":[],"capabilities":{}}`, diagnosis.ProtocolVersion, protocol.Default},
		{`{"supportedVersions":["2026-07-28",5],"capabilities":{}}`, diagnosis.InitializeError, ""},
		{`{"supportedVersions":"2026-07-28","capabilities":{}}`, diagnosis.InitializeError, ""},
		{`{"capabilities":{}}`, diagnosis.InitializeError, ""},
		{`{"supportedVersions":["2026-07-28"]}`, diagnosis.InitializeError, ""},
		{`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":null}}`, diagnosis.InitializeError, ""},
		{`{"supportedVersions":["2026-07-28"],"capabilities":{},"instructions":null}`, diagnosis.InitializeError, ""},
		{`[]`, diagnosis.InitializeError, ""},
		{`null`, diagnosis.InitializeError, ""},
	} {
		_, f := stateless{latest}.readDiscovered(answerWith(t, "result", row.result))
		code, ask := diagnosis.Code(""), protocol.Version("")
		if f != nil {
			code, ask = f.Code, f.Detail.Ask
		}
		if code != row.code || ask != row.ask {
			t.Errorf("%s: %q, ask for %q", row.result, code, ask)
		}
	}
}

// CONTRACT.md section 4.8: errors, and pages.
func TestStatelessErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		err       string
		hello     diagnosis.Code // to server/discover
		toolsList diagnosis.Code // to tools/list
	}{
		{`{"code":-32020,"message":"x"}`, diagnosis.HeaderMismatch, diagnosis.HeaderMismatch},
		{`{"code":-32021,"message":"x"}`, diagnosis.CapabilityNeeded, diagnosis.CapabilityNeeded},
		{`{"code":-32022,"message":"x","data":{"supported":["2025-06-18"]}}`, diagnosis.ProtocolVersion, diagnosis.ProtocolVersion},
		{`{"code":-32601,"message":"x"}`, diagnosis.ProtocolVersion, diagnosis.CatalogError},
		{`{"code":-32600,"message":"x"}`, diagnosis.ProtocolVersion, diagnosis.CatalogError},
		{`{}`, diagnosis.ProtocolVersion, diagnosis.CatalogError},
	} {
		m := answerWith(t, "error", row.err)
		if _, f := (stateless{latest}).readDiscovered(m); f == nil || f.Code != row.hello || !f.Detail.IsErrorAnswer() {
			t.Errorf("%s to discover: %+v", row.err, f)
		}
		if _, _, f := (stateless{latest}).page(m); f == nil || f.Code != row.toolsList {
			t.Errorf("%s to tools/list: %+v", row.err, f)
		}
	}
	for result, want := range map[string]struct {
		cursor string
		code   diagnosis.Code
	}{
		`{"tools":[]}`:                               {"", ""},
		`{"tools":[],"nextCursor":null}`:             {"", ""},
		`{"tools":[],"nextCursor":""}`:               {`""`, ""},
		`{"tools":[],"nextCursor":"c"}`:              {`"c"`, ""},
		`{"tools":[],"nextCursor":8}`:                {"", diagnosis.CursorMalformed},
		`{"tools":[],"resultType":"complete"}`:       {"", ""},
		`{"tools":[],"resultType":"input_required"}`: {"", diagnosis.ResultType},
		`{"tools":{}}`:                               {"", diagnosis.CatalogError},
	} {
		s := &Session{era: stateless{latest}}
		cursor, f := s.readPage(answerWith(t, "result", result), nil)
		token, code := "", diagnosis.Code("")
		if cursor != nil {
			token = cursor.token
		}
		if f != nil {
			code = f.Code
		}
		if token != want.cursor || code != want.code {
			t.Errorf("%s: cursor %s, %q", result, token, code)
		}
	}
}

// A server must not ask, and nothing is answered.
func TestStatelessRequests(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]diagnosis.Code{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                      diagnosis.ServerRequest,
		`{"jsonrpc":"2.0","id":"a","method":"roots/list"}`:              diagnosis.ServerRequest,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`: "",
	} {
		x := newExchange(latest)
		_, replies, f := x.take([]byte(text))
		code := diagnosis.Code("")
		if f != nil {
			code = f.Code
		}
		if code != want || len(replies) > 0 {
			t.Errorf("%s: %q, %d replies", text, code, len(replies))
		}
	}
}

// One session over HTTP: every byte that is sent, and what an answer's status
// means.
func TestStatelessOverHTTP(t *testing.T) {
	t.Parallel()
	const hello = `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`
	for _, row := range []struct {
		name     string
		statuses [3]int // of discover, the first page, the second
		bodies   [3]string
		code     diagnosis.Code
		title    string
	}{
		{"complete", [3]int{200, 200, 200}, [3]string{hello, `{"jsonrpc":"2.0","id":2,"result":{"tools":[],"nextCursor":""}}`, `{"jsonrpc":"2.0","id":3,"result":{"tools":[],"nextCursor":null}}`}, "", ""},
		{"an older server", [3]int{400}, [3]string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no session"}}`}, diagnosis.ProtocolVersion, "protocol-version (HTTP status 400, JSON-RPC error -32000)"},
		{"no such method", [3]int{404}, [3]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x"}}`}, diagnosis.ProtocolVersion, "protocol-version (HTTP status 404, JSON-RPC error -32601)"},
		{"names its versions", [3]int{400}, [3]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"x","data":{"supported":["2025-11-25"]}}}`}, diagnosis.ProtocolVersion, "protocol-version (HTTP status 400, JSON-RPC error -32022, server names 2025-11-25)"},
		{"headers", [3]int{400}, [3]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"x"}}`}, diagnosis.HeaderMismatch, "header-mismatch (HTTP status 400, JSON-RPC error -32020)"},
		{"no JSON", [3]int{404}, [3]string{`not found`}, diagnosis.HTTPStatus, "http-status 404"},
		{"authorization", [3]int{401}, [3]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"x"}}`}, diagnosis.HTTPStatus, "http-status 401"},
		{"a page refused", [3]int{200, 400}, [3]string{hello, `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"x"}}`}, diagnosis.CatalogError, "catalog-error (HTTP status 400, JSON-RPC error -32602)"},
		{"a page that wants more", [3]int{200, 400}, [3]string{hello, `{"jsonrpc":"2.0","id":2,"error":{"code":-32021,"message":"x"}}`}, diagnosis.CapabilityNeeded, "capability-required (HTTP status 400, JSON-RPC error -32021)"},
		{"a server's fault", [3]int{500}, [3]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"x"}}`}, diagnosis.HTTPStatus, "http-status 500"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var sent []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				sent = append(sent, strings.Join([]string{r.Method, r.Header.Get("MCP-Protocol-Version"), r.Header.Get("Mcp-Method"), r.Header.Get("Mcp-Session-Id"), string(body)}, " "))
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Mcp-Session-Id", "ignored-"+r.Header.Get("Mcp-Method"))
				w.WriteHeader(row.statuses[len(sent)-1])
				io.WriteString(w, row.bodies[len(sent)-1])
			}))
			defer server.Close()
			u, _ := url.Parse(server.URL)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			s := OpenHTTP(Endpoint{URL: u, Loopback: true}, latest)
			defer s.Close()
			stage := s.HelloStage()
			_, f := s.Hello(ctx)
			if f == nil {
				f = s.Ready(ctx)
			}
			if f == nil {
				stage = diagnosis.ToolsList
				var cursor *Cursor
				for page := 1; f == nil && (page == 1 || cursor != nil); page++ {
					cursor, f = s.ListTools(ctx, cursor, page, func(Tool) *Fault { return nil })
				}
			}
			if (f == nil) != (row.code == "") || f != nil && f.Code != row.code {
				t.Fatalf("%+v, not %q", f, row.code)
			}
			if f != nil {
				if title := (diagnosis.Diagnosis{Code: f.Code, Stage: stage, Detail: f.Detail}).Title(); title != row.title+" at "+string(stage) {
					t.Errorf("%q, not %q", title, row.title)
				}
				return
			}
			want := []string{
				`POST 2026-07-28 server/discover  {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`,
				`POST 2026-07-28 tools/list  {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + meta + `}}`,
				`POST 2026-07-28 tools/list  {"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"",` + meta + `}}`,
			}
			if !slices.Equal(sent, want) {
				t.Error(cmp.Diff(want, sent))
			}
		})
	}
}
