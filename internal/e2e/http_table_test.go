//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// quiet drops what net/http says of broken connections: here they are meant.
var quiet = log.New(io.Discard, "", 0)

// httpRow is one behaviour of a Streamable HTTP server and what must come of
// it. Its requests are checked by the script.
type httpRow struct {
	name    string
	steps   []httpStep
	profile string // none without it
	auth    string // the authorization that is set

	code, stage string   // of the diagnosis; complete without it
	tools       []string // alpha and beta without it
	advice      string   // must be on stderr
	slow        bool     // the row lasts as long as the timeout, or nearly
}

// frames of the server, in pieces for streams.
const (
	helloHead = `{"jsonrpc":"2.0","id":1,`
	helloRest = `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"instructions":"` + canary + `"}}`
	stray     = `{"jsonrpc":"2.0","method":"notifications/` + canary + `","params":{"x":"` + canary + `"}}`
)

// eachStream makes one script in which both answers are streams.
func eachStream(form func(data string) string) []httpStep {
	return wholeScript(asSSE(form(helloJSON)), nil, asSSE(form(listJSON)))
}

func rpcError(id int, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":%q,"data":{"x":"%s"}}}`, id, code, message, canary)
}

func helloVersion(token string) string {
	return `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":` + token + `,"capabilities":{"tools":{}}}}`
}

func toolsPage(id int, rest string, tools ...string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[%s]%s}}`, id, strings.Join(tools, ","), rest)
}

// manyTools is a page of 500 tools with 1 KiB of description each, and their
// names.
func manyTools() (page string, names []string) {
	var tools []string
	for i := range 500 {
		name := fmt.Sprintf("tool-%03d", i)
		names = append(names, name)
		tools = append(tools, fmt.Sprintf(`{"name":"%s","description":"%s","inputSchema":{"type":"object"}}`, name, strings.Repeat(canary+" ", 150)))
	}
	return toolsPage(2, "", tools...), names
}

// header returns an answer's header lines and blank line for rawHTTP.
func header(lines ...string) string { return strings.Join(lines, "\r\n") + "\r\n\r\n" }

func sized(kind, body string) string {
	return header("HTTP/1.1 200 OK", "Content-Type: "+kind, fmt.Sprintf("Content-Length: %d", len(body))) + body
}

// untilRead waits for the client to write or to hang up.
func untilRead(x *httpTurn, conn net.Conn) {
	conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	if n, _ := conn.Read(make([]byte, 1)); n > 0 {
		x.s.t.Error("the connection was used again")
	}
}

var httpComplete = []httpRow{
	{name: "JSON", steps: wholeScript(nil, nil, nil)},
	{name: "SSE", steps: eachStream(sseEvent)},
	{name: "SSE with CRLF", steps: eachStream(func(d string) string { return "event: message\r\ndata: " + d + "\r\n\r\n" })},
	{name: "SSE with CR", steps: eachStream(func(d string) string { return "event: message\rdata: " + d + "\r\r" })},
	{name: "SSE with comments", steps: eachStream(func(d string) string {
		return ": " + canary + "\n\n:\nevent: message\n: x\ndata: " + d + "\n:y\n\n"
	})},
	{name: "SSE with data over lines", steps: eachStream(func(d string) string {
		return "data: " + strings.ReplaceAll(d, `"result":`, "\ndata:  \"result\":\ndata:\ndata:") + "\n\n"
	})},
	{name: "SSE with a byte order mark", steps: eachStream(func(d string) string { return "\xef\xbb\xbf" + sseEvent(d) })},
	{name: "SSE with a priming event", steps: eachStream(func(d string) string {
		return "id: " + canary + "\nretry: 3000\ndata: \n\nid: 2\ndata:\n\nid\nevent: message\ndata: " + d + "\n\n"
	})},
	{name: "SSE without the space", steps: eachStream(func(d string) string { return "event:message\ndata:" + d + "\n\n" })},
	{name: "SSE without an event line", steps: eachStream(func(d string) string { return "data: " + d + "\n\n" })},
	{name: "SSE with unknown fields", steps: eachStream(func(d string) string {
		return "x-" + canary + ": 1\nfoo\nDATA: no\ndata: " + d + "\n data: no\n\n"
	})},
	{name: "SSE with other types", steps: eachStream(func(d string) string {
		return "event: ping\ndata: {}\n\nevent: endpoint\ndata: /" + canary + "\n\nevent: error\ndata: " + rpcError(1, -32603, canary) + "\n\n" + sseEvent(d)
	})},
	{name: "SSE with notifications first", steps: eachStream(func(d string) string { return sseEvent(stray) + sseEvent(stray) + sseEvent(d) })},
	{name: "SSE byte by byte", steps: wholeScript(
		liveSSE(func(x *httpTurn) {
			for _, b := range []byte("\xef\xbb\xbfid: 1\r\ndata: " + helloJSON + "\r\n\r\n") {
				x.send(string(b))
			}
		}), nil,
		liveSSE(func(x *httpTurn) {
			for _, b := range []byte("data: " + listJSON + "\r\r") {
				x.send(string(b))
			}
		}))},
	{name: "JSON byte by byte", steps: wholeScript(func(x *httpTurn) {
		x.w.Header().Set("Content-Type", "application/json")
		for _, b := range []byte(helloJSON) {
			x.send(string(b))
		}
	}, nil, nil)},
	{name: "a byte each 100 ms for a second", steps: wholeScript(liveSSE(func(x *httpTurn) {
		for i := range 10 {
			time.Sleep(100 * time.Millisecond) // the behaviour itself
			x.send(helloJSON[i : i+1])
		}
		x.send("\ndata: " + helloJSON + "\n\n")
	}), nil, nil)},
	{name: "a stream that stays open after the answer", steps: wholeScript(
		liveSSE(func(x *httpTurn) { x.send(sseEvent(helloJSON)); x.hold() }),
		afterHangUp(liveSSE(func(x *httpTurn) { x.send(sseEvent(stray)); x.hold() })),
		afterHangUp(liveSSE(func(x *httpTurn) { x.send(sseEvent(listJSON)); x.hold() })))},
	{name: "a stream that stays open, its last line end is a lone CR", steps: wholeScript(
		liveSSE(func(x *httpTurn) { x.send("data: " + helloJSON + "\r\n\r"); x.hold() }),
		afterHangUp(accepted()), nil)},
	{name: "rubbish after the answer", steps: wholeScript(
		asSSE(sseEvent(helloJSON)+sseEvent("rubbish")+sseEvent(`[{"jsonrpc":"2.0"}]`)), nil, asSSE(sseEvent(listJSON)+"\x00\xff"))},
	{name: "the answer twice in a stream", steps: wholeScript(
		asSSE(sseEvent(helloJSON)+sseEvent(helloVersion(`"2024-11-05"`))), nil, asSSE(sseEvent(listJSON)+sseEvent(toolsPage(2, ""))))},
	{name: "500 tools of 1 KiB in one data line", tools: func() []string { _, names := manyTools(); return names }(),
		steps: wholeScript(nil, nil, func(x *httpTurn) { page, _ := manyTools(); asSSE(sseEvent(page))(x) })},

	{name: "Content-Type in other cases", steps: wholeScript(
		respondWith(200, sseEvent(helloJSON), "Content-Type", "Text/Event-Stream; charset=UTF-8"), nil,
		respondWith(200, listJSON, "Content-Type", "APPLICATION/JSON"))},
	{name: "Content-Type with parameters and blanks", steps: wholeScript(
		respondWith(200, helloJSON, "Content-Type", `application/json ;charset="utf-8"`), nil,
		respondWith(200, sseEvent(listJSON), "Content-Type", "text/event-stream;x=y;z"))},
	{name: "header names in lower case", steps: wholeScript(
		rawHTTP(header("HTTP/1.1 200 OK", "content-type:application/json", "connection: close")+helloJSON, nil), nil,
		rawHTTP(header("HTTP/1.1 200", "CONTENT-TYPE: text/event-stream", "CONNECTION: CLOSE")+sseEvent(listJSON), nil))},
	{name: "Content-Encoding identity", steps: wholeScript(
		respondWith(200, helloJSON, "Content-Type", "application/json", "Content-Encoding", "Identity"), nil, nil)},
	{name: "Location with 200", steps: wholeScript(
		respondWith(200, helloJSON, "Content-Type", "application/json", "Location", "/"+canary), nil, nil)},
	{name: "cookies and strange headers", steps: wholeScript(
		respondWith(200, helloJSON, "Content-Type", "application/json", "Set-Cookie", canary+"="+canary, "Refresh", "0; url=/"+canary), nil, nil)},
	{name: "early hints", steps: wholeScript(func(x *httpTurn) {
		x.w.Header().Set("Link", "</"+canary+">; rel=preload")
		x.w.WriteHeader(http.StatusEarlyHints)
		asJSON(helloJSON)(x)
	}, nil, nil)},
	{name: "HTTP/1.0", steps: wholeScript(
		rawHTTP(header("HTTP/1.0 200 OK", "Content-Type: application/json")+helloJSON, nil),
		rawHTTP(header("HTTP/1.0 202 Accepted"), nil),
		rawHTTP(header("HTTP/1.0 200 OK", "Content-Type: text/event-stream")+sseEvent(listJSON), nil))},
	{name: "connections that end without a word after each answer", steps: wholeScript(
		rawHTTP(sized("application/json", helloJSON), nil),
		rawHTTP(header("HTTP/1.1 202 Accepted", "Content-Length: 0"), nil), nil)},
	// A POST is not repeated when a connection that was kept breaks under it,
	// and servers end idle ones after some seconds, which may be our window.
	{name: "connections that must not be used again", steps: wholeScript(
		rawHTTP(sized("application/json", helloJSON), untilRead),
		rawHTTP(header("HTTP/1.1 202 Accepted", "Content-Length: 0"), untilRead), nil)},
	{name: "an answer nobody asked for on an idle connection", steps: wholeScript(nil,
		rawHTTP(header("HTTP/1.1 202 Accepted", "Content-Length: 0")+header("HTTP/1.1 200 OK", "X-Leak: "+canary)+canary, untilRead), nil)},

	{name: "initialized: 200 without a body", steps: wholeScript(nil, respondWith(200, ""), nil)},
	{name: "initialized: 200 with a body", steps: wholeScript(nil, asJSON(rpcError(1, -32600, canary)), nil)},
	{name: "initialized: 200 with HTML", steps: wholeScript(nil, respondWith(200, "<h1>"+canary+"</h1>", "Content-Type", "text/html"), nil)},
	{name: "initialized: 201", steps: wholeScript(nil, respondWith(201, ""), nil)},
	{name: "initialized: 204", steps: wholeScript(nil, respondWith(204, ""), nil)},
	{name: "initialized: 202 with a body", steps: wholeScript(nil, respondWith(202, canary), nil)},
	{name: "initialized: a body that never ends", steps: wholeScript(nil, func(x *httpTurn) {
		x.w.WriteHeader(202)
		x.send("{")
		x.hold()
	}, afterHangUp(asJSON(listJSON)))},

	{name: "a session id", steps: wholeScript(withSession("s-"+canary, asJSON(helloJSON)), nil, nil)},
	{name: "a session id of every visible character", steps: wholeScript(withSession(everyVisible(), asSSE(sseEvent(helloJSON))), nil, nil)},
	{name: "a long session id", steps: wholeScript(withSession(strings.Repeat(canary, 1000), asJSON(helloJSON)), nil, nil)},
	{name: "a session id in every answer", steps: wholeScript(
		withSession("s-"+canary, asJSON(helloJSON)), withSession("s-"+canary, accepted()), withSession("s-"+canary, asJSON(listJSON)))},
	{name: "an empty session id is none", steps: wholeScript(withSession("", asJSON(helloJSON)), nil, nil)},
	{name: "an empty session id later", steps: wholeScript(
		withSession("s-"+canary, asJSON(helloJSON)), respondWith(202, "", "Mcp-Session-Id", ""), nil)},
	{name: "the session header in lower case", steps: wholeScript(func(x *httpTurn) {
		x.s.mu.Lock()
		x.s.session = "s1"
		x.s.mu.Unlock()
		x.w.Header()["mcp-session-id"] = []string{"s1"}
		asJSON(helloJSON)(x)
	}, nil, nil)},
	{name: "authorization", auth: "Bearer " + canary + "==", steps: wholeScript(withSession("x", asJSON(helloJSON)), nil, nil)},
	{name: "authorization with odd bytes", auth: "Basic \xc3\xa9 ~!\"$%&'()*,", steps: wholeScript(nil, nil, nil)},

	{name: "three pages", tools: []string{"alpha", "beta", "gamma"}, steps: append(
		wholeScript(nil, nil, asJSON(toolsPage(2, `,"nextCursor":"`+canary+`\u0031\/é"`, toolAlpha))),
		httpStep{`tools/list "` + canary + `\u0031\/é"`, asSSE(sseEvent(toolsPage(3, `,"nextCursor":"2"`, toolBeta)))},
		httpStep{`tools/list "2"`, asJSON(toolsPage(4, "", `{"name":"gamma","inputSchema":{}}`))})},
	{name: "no tools capability", tools: []string{}, advice: "note: ", steps: []httpStep{
		{"initialize", asJSON(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"prompts":{}}}}`)},
		{"notifications/initialized", accepted()}}},

	{name: "roots asked in the stream of initialize", profile: "roots", steps: replied(wholeScript(
		withSession("s-"+canary, liveSSE(func(x *httpTurn) { x.ask(rootsRequest, rootsReply); x.send(sseEvent(helloJSON)) })), nil, nil),
		"initialize", `reply "r1"`)},
	{name: "roots asked in the stream of the listing", profile: "all", steps: replied(wholeScript(
		withSession("s-"+canary, asJSON(helloJSON)), nil,
		liveSSE(func(x *httpTurn) { x.ask(rootsRequest, rootsReply); x.send(sseEvent(listJSON)) })),
		"tools/list", `reply "r1"`)},
	{name: "roots asked with our own id, the stream stays open", profile: "roots", steps: replied(wholeScript(
		liveSSE(func(x *httpTurn) {
			x.ask(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
			x.send(sseEvent(helloJSON))
			x.hold()
		}), afterHangUp(accepted()), nil), "initialize", "reply 1")},
	{name: "roots asked eight times in each stream", profile: "roots", steps: replied(replied(wholeScript(
		liveSSE(func(x *httpTurn) { x.askOften(8); x.send(sseEvent(helloJSON)) }), nil,
		liveSSE(func(x *httpTurn) { x.askOften(8); x.send(sseEvent(listJSON)) })),
		"initialize", eightReplies()...), "tools/list", eightReplies()...)},
	{name: "the reply is answered with 200 and a stream", profile: "roots", steps: []httpStep{
		{"initialize", liveSSE(func(x *httpTurn) { x.ask(rootsRequest, rootsReply); x.send(sseEvent(helloJSON)) })},
		{`reply "r1"`, liveSSE(func(x *httpTurn) { x.send(sseEvent(stray)); x.hold() })},
		{"notifications/initialized", afterHangUp(accepted())},
		{"tools/list", asJSON(listJSON)}}},
	{name: "roots asked of a client without", steps: replied(wholeScript(
		liveSSE(func(x *httpTurn) {
			x.ask(rootsRequest, `{"jsonrpc":"2.0","id":"r1","error":{"code":-32601,"message":"Method not found"}}`)
			x.send(sseEvent(helloJSON))
		}), nil, nil), "initialize", `reply "r1"`)},
	{name: "ping, sampling, elicitation and others in the stream", profile: "all", steps: replied(wholeScript(nil, nil,
		liveSSE(func(x *httpTurn) {
			x.ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":2,"result":{}}`)
			for _, method := range []string{"sampling/createMessage", "elicitation/create", "tools/list", canary} {
				x.ask(`{"jsonrpc":"2.0","id":-7.50,"method":"`+method+`","params":{"message":"`+canary+`"}}`,
					`{"jsonrpc":"2.0","id":-7.50,"error":{"code":-32601,"message":"Method not found"}}`)
			}
			x.send(sseEvent(listJSON))
		})), "tools/list", "reply 2", "reply -7.50", "reply -7.50", "reply -7.50", "reply -7.50")},
}

func everyVisible() string {
	var all []byte
	for c := byte(0x21); c < 0x7f; c++ {
		all = append(all, c)
	}
	return string(all)
}

func (x *httpTurn) askOften(n int) {
	for i := range n {
		x.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`, i), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"roots":[]}}`, i))
	}
}

func eightReplies() (keys []string) {
	for i := range 8 {
		keys = append(keys, fmt.Sprintf("reply %d", i))
	}
	return keys
}

var httpIncomplete = []httpRow{
	{name: "a stream that ends without an answer", steps: atInitialize(asSSE(": hi\n\n" + sseEvent(stray))), code: "transport-closed", stage: "initialize"},
	{name: "an empty stream", steps: atList(asSSE("")), code: "transport-closed", stage: "tools/list"},
	{name: "a stream that ends after its priming event", steps: atList(asSSE("id: 1\nretry: 10\ndata:\n\n")), code: "transport-closed", stage: "tools/list"},
	{name: "an event without its blank line", steps: atInitialize(asSSE("data: " + helloJSON + "\n")), code: "transport-closed", stage: "initialize"},
	{name: "an event without its line end", steps: atList(asSSE("data: " + listJSON)), code: "transport-closed", stage: "tools/list"},
	{name: "an event that is no JSON", steps: atInitialize(asSSE(sseEvent(canary) + sseEvent(helloJSON))), code: "message-malformed", stage: "initialize"},
	{name: "a byte order mark that is none", steps: atInitialize(asSSE("data: \xef\xbb\xbf" + helloJSON + "\n\n")), code: "message-malformed", stage: "initialize"},
	{name: "an event that is no JSON-RPC", steps: atList(asSSE(sseEvent(`{"progress":"`+canary+`"}`) + sseEvent(listJSON))), code: "message-malformed", stage: "tools/list"},
	{name: "an answer without jsonrpc in a stream", steps: atInitialize(asSSE(sseEvent(strings.Replace(helloJSON, `"jsonrpc":"2.0",`, "", 1)))), code: "message-malformed", stage: "initialize"},
	{name: "an answer without jsonrpc", steps: atInitialize(asJSON(strings.Replace(helloJSON, `"jsonrpc":"2.0",`, "", 1))), code: "message-malformed", stage: "initialize"},
	{name: "a batch", steps: atInitialize(asJSON("[" + helloJSON + "]")), code: "message-malformed", stage: "initialize"},
	{name: "a batch in a stream", steps: atList(asSSE(sseEvent("[" + listJSON + "]"))), code: "message-malformed", stage: "tools/list"},
	{name: "an empty batch in a stream", steps: atList(asSSE(sseEvent("[]") + sseEvent(listJSON))), code: "message-malformed", stage: "tools/list"},
	{name: "JSON lines", steps: atInitialize(asJSON(helloJSON + "\n" + helloJSON)), code: "message-malformed", stage: "initialize"},
	{name: "SSE called JSON", steps: atInitialize(asJSON(sseEvent(helloJSON))), code: "message-malformed", stage: "initialize"},
	{name: "JSON called SSE", steps: atInitialize(asSSE(helloJSON + "\n\n")), code: "transport-closed", stage: "initialize"},
	{name: "an empty JSON body", steps: atInitialize(asJSON("")), code: "message-malformed", stage: "initialize"},
	{name: "a request as JSON body", profile: "roots", steps: atInitialize(asJSON(rootsRequest)), code: "message-malformed", stage: "initialize"},
	{name: "a notification as JSON body", steps: atList(asJSON(stray)), code: "message-malformed", stage: "tools/list"},
	{name: "roots asked without jsonrpc", profile: "roots", steps: atInitialize(asSSE(sseEvent(`{"id":"r1","method":"roots/list"}`) + sseEvent(helloJSON))), code: "message-malformed", stage: "initialize"},
	{name: "roots asked with a null id", profile: "roots", steps: atInitialize(asSSE(sseEvent(`{"jsonrpc":"2.0","id":null,"method":"roots/list"}`) + sseEvent(helloJSON))), code: "message-malformed", stage: "initialize"},
	{name: "another id", steps: atInitialize(asJSON(strings.Replace(helloJSON, `"id":1`, `"id":2`, 1))), code: "message-malformed", stage: "initialize"},
	{name: "another id in a stream", steps: atInitialize(asSSE(sseEvent(strings.Replace(helloJSON, `"id":1`, `"id":0`, 1)) + sseEvent(helloJSON))), code: "message-malformed", stage: "initialize"},
	{name: "our id as a string", steps: atInitialize(asJSON(strings.Replace(helloJSON, `"id":1`, `"id":"1"`, 1))), code: "message-malformed", stage: "initialize"},
	{name: "no id", steps: atInitialize(asJSON(strings.Replace(helloJSON, `"id":1,`, ``, 1))), code: "message-malformed", stage: "initialize"},
	{name: "result and error", steps: atInitialize(asJSON(helloHead + `"error":null,` + helloRest)), code: "message-malformed", stage: "initialize"},
	{name: "neither result nor error", steps: atInitialize(asJSON(`{"jsonrpc":"2.0","id":1}`)), code: "message-malformed", stage: "initialize"},
	{name: "jsonrpc 1.0", steps: atInitialize(asJSON(strings.Replace(helloJSON, `"2.0"`, `"1.0"`, 1))), code: "message-malformed", stage: "initialize"},
	{name: "a repeated key", steps: atInitialize(asJSON(helloHead + `"id":1,` + helloRest)), code: "message-malformed", stage: "initialize"},
	{name: "a repeated key far inside", steps: atList(asSSE(sseEvent(toolsPage(2, "", `{"name":"alpha","inputSchema":{"a":{"b":1,"\u0062":2}}}`)))), code: "message-malformed", stage: "tools/list"},
	{name: "keys in the wrong case", steps: atInitialize(asJSON(strings.Replace(helloJSON, `"protocolVersion"`, `"ProtocolVersion"`, 1))), code: "initialize-error", stage: "initialize"},
	{name: "invalid UTF-8", steps: atInitialize(asJSON(strings.Replace(helloJSON, canary, canary+"\xff", 1))), code: "message-malformed", stage: "initialize"},
	{name: "invalid UTF-8 in a stream", steps: atList(asSSE(sseEvent(strings.Replace(listJSON, canary, "\xed\xa0\x80", 1)))), code: "message-malformed", stage: "tools/list"},
	{name: "UTF-16", steps: atInitialize(asJSON("\xff\xfe{\x00}\x00")), code: "message-malformed", stage: "initialize"},
	{name: "NUL in a name", steps: atList(asSSE(sseEvent(toolsPage(2, "", `{"name":"a\u0000b","inputSchema":{}}`)))), code: "entry-malformed", stage: "tools/list"},
	{name: "a command as a name", steps: atList(asJSON(toolsPage(2, "", `{"name":"x\n::error::`+canary+`","inputSchema":{}}`))), code: "entry-malformed", stage: "tools/list"},
	{name: "deep nesting", steps: atList(asSSE(sseEvent(toolsPage(2, "", `{"name":"a","inputSchema":`+strings.Repeat(`{"a":`, 100000)+"1"+strings.Repeat("}", 100000)+"}")))), code: "frame-limit", stage: "tools/list"},
	{name: "a null cursor", steps: atList(asJSON(toolsPage(2, `,"nextCursor":null`, toolAlpha))), code: "cursor-malformed", stage: "tools/list"},
	{name: "the same cursor again", steps: append(atList(asJSON(toolsPage(2, `,"nextCursor":"`+canary+`"`, toolAlpha))),
		httpStep{`tools/list "` + canary + `"`, asSSE(sseEvent(toolsPage(3, `,"nextCursor":"`+canary+`"`, toolBeta)))}), code: "cursor-repeated", stage: "tools/list"},
	{name: "a name twice", steps: atList(asJSON(toolsPage(2, "", toolAlpha, toolAlpha))), code: "tool-duplicate", stage: "tools/list"},
	{name: "tools/list is an error", steps: atList(asSSE(sseEvent(rpcError(2, -32601, canary)))), code: "catalog-error", stage: "tools/list"},

	{name: "version 2024-11-05", steps: atInitialize(asJSON(helloVersion(`"2024-11-05"`))), code: "protocol-version", stage: "initialize", advice: "--protocol 2024-11-05"},
	{name: "version 2025-11-25", steps: atInitialize(asSSE(sseEvent(helloVersion(`"2025-11-25"`)))), code: "protocol-version", stage: "initialize", advice: "a newer protocol version"},
	{name: "version 2025-6-18", steps: atInitialize(asJSON(helloVersion(`"2025-6-18"`))), code: "protocol-version", stage: "initialize"},
	{name: "version empty", steps: atInitialize(asJSON(helloVersion(`""`))), code: "protocol-version", stage: "initialize"},
	{name: "version a number", steps: atInitialize(asJSON(helloVersion(`20250618`))), code: "protocol-version", stage: "initialize"},
	{name: "initialize is an error", steps: atInitialize(asJSON(rpcError(1, -32602, canary))), code: "initialize-error", stage: "initialize"},
	{name: "initialize is -32601 with 200", steps: atInitialize(asJSON(rpcError(1, -32601, canary))), code: "protocol-version", stage: "initialize", advice: "2026-07-28"},

	{name: "Content-Type missing", steps: atInitialize(respondWith(200, helloJSON)), code: "content-type", stage: "initialize"},
	{name: "Content-Type empty", steps: atInitialize(respondWith(200, helloJSON, "Content-Type", " ")), code: "content-type", stage: "initialize"},
	{name: "text/html", steps: atInitialize(respondWith(200, "<h1>"+canary, "Content-Type", "text/html")), code: "content-type", stage: "initialize"},
	{name: "text/plain", steps: atList(respondWith(200, listJSON, "Content-Type", "text/plain; x="+canary)), code: "content-type", stage: "tools/list"},
	{name: "application/json-seq", steps: atInitialize(respondWith(200, helloJSON, "Content-Type", "application/json-seq")), code: "content-type", stage: "initialize"},
	{name: "an empty answer to a request", steps: atInitialize(respondWith(200, "")), code: "content-type", stage: "initialize"},
	{name: "Content-Encoding br", steps: atInitialize(respondWith(200, canary, "Content-Type", "application/json", "Content-Encoding", "br")), code: "content-type", stage: "initialize", advice: "Content-Encoding"},

	{name: "400 -32022", steps: atInitialize(respondWith(400, rpcError(1, -32022, canary), "Content-Type", "application/json")), code: "protocol-version", stage: "initialize", advice: "2026-07-28"},
	{name: "400 -32601", steps: atInitialize(respondWith(400, rpcError(1, -32601, canary), "Content-Type", "application/json")), code: "protocol-version", stage: "initialize", advice: "2026-07-28"},
	{name: "400 -32601 with a null id", steps: atInitialize(respondWith(400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"`+canary+`"}}`, "Content-Type", "application/json")), code: "protocol-version", stage: "initialize", advice: "2026-07-28"},
	{name: "400 -32000 Unsupported protocol version", steps: atInitialize(respondWith(400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Unsupported protocol version (supported versions: `+canary+`)"}}`, "Content-Type", "application/json")), code: "protocol-version", stage: "initialize"},
	{name: "400 -32602 with data.supported", steps: atInitialize(respondWith(400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"`+canary+`","data":{"supported":["2024-11-05"]}}}`, "Content-Type", "application/json")), code: "protocol-version", stage: "initialize"},
	{name: "400 -32000", steps: atInitialize(respondWith(400, rpcError(1, -32000, "Bad Request: "+canary), "Content-Type", "application/json")), code: "http-status", stage: "initialize"},
	{name: "400 with HTML", steps: atInitialize(respondWith(400, "<h1>"+canary+" unsupported protocol version -32601</h1>", "Content-Type", "text/html")), code: "http-status", stage: "initialize"},
	{name: "400 with a repeated key", steps: atInitialize(respondWith(400, `{"error":{"code":-32601,"code":-32601}}`, "Content-Type", "application/json")), code: "http-status", stage: "initialize"},
	{name: "400 with a large body", steps: atInitialize(respondWith(400, `{"error":{"code":-32601,"message":"`+strings.Repeat(canary, 20000)+`"}}`)), code: "http-status", stage: "initialize"},
	{name: "400 with a body that stalls", steps: atInitialize(func(x *httpTurn) {
		x.w.WriteHeader(400)
		x.send(`{"jsonrpc":"2.0","error":`)
		x.hold()
	}), code: "http-status", stage: "initialize"},
	{name: "400 later", steps: atList(respondWith(400, rpcError(2, -32601, canary), "Content-Type", "application/json")), code: "http-status", stage: "tools/list"},
	{name: "405 with a reason of words", steps: atInitialize(rawHTTP(header("HTTP/1.1 405 "+canary, "Content-Length: 0"), nil)), code: "http-status", stage: "initialize", advice: "does not take POST"},
	{name: "a reply refused with 500", profile: "roots", steps: []httpStep{
		{"initialize", liveSSE(func(x *httpTurn) { x.ask(rootsRequest, rootsReply); x.hold() })},
		{`reply "r1"`, respondWith(500, canary)}}, code: "http-status", stage: "initialize"},
	{name: "a reply refused in the stream of the listing", profile: "all", steps: append(atList(
		liveSSE(func(x *httpTurn) { x.ask(rootsRequest, rootsReply); x.hold() })),
		httpStep{`reply "r1"`, respondWith(400, canary)}), code: "http-status", stage: "tools/list"},
	{name: "a reply redirected", profile: "all", steps: append(atList(
		liveSSE(func(x *httpTurn) { x.ask(rootsRequest, rootsReply); x.hold() })),
		httpStep{`reply "r1"`, respondWith(307, "", "Location", "/"+canary)}), code: "http-redirect", stage: "tools/list"},
	{name: "roots asked nine times", profile: "roots", steps: replied(atInitialize(
		liveSSE(func(x *httpTurn) { x.askOften(8); x.send(sseEvent(rootsRequest)); x.hold() })),
		"initialize", eightReplies()...), code: "roots-limit", stage: "initialize"},
	{name: "roots asked nine times in the listing", profile: "all", steps: replied(atList(
		liveSSE(func(x *httpTurn) { x.askOften(8); x.send(sseEvent(rootsRequest)); x.hold() })),
		"tools/list", eightReplies()...), code: "roots-limit", stage: "tools/list"},

	{name: "a session id with a space", steps: atInitialize(respondWith(200, helloJSON, "Content-Type", "application/json", "Mcp-Session-Id", canary+" x")), code: "session-changed", stage: "initialize"},
	{name: "a session id with a tab", steps: atInitialize(rawHTTP(header("HTTP/1.1 200 OK", "Content-Type: application/json", "Mcp-Session-Id: "+canary+"\tx")+helloJSON, nil)), code: "session-changed", stage: "initialize"},
	{name: "a session id that is not ASCII", steps: atInitialize(rawHTTP(header("HTTP/1.1 200 OK", "Content-Type: application/json", "Mcp-Session-Id: "+canary+"\xc3\xa9")+helloJSON, nil)), code: "session-changed", stage: "initialize"},
	// net/http refuses the whole answer.
	{name: "a session id with DEL", steps: atInitialize(rawHTTP(header("HTTP/1.1 200 OK", "Content-Type: application/json", "Mcp-Session-Id: "+canary+"\x7f")+helloJSON, nil)), code: "transport-closed", stage: "initialize"},
	{name: "two session ids", steps: atInitialize(respondWith(200, helloJSON, "Content-Type", "application/json", "Mcp-Session-Id", "a", "Mcp-Session-Id", "b")), code: "session-changed", stage: "initialize"},
	{name: "another session id for initialized", steps: []httpStep{
		{"initialize", withSession("a", asJSON(helloJSON))},
		{"notifications/initialized", respondWith(202, "", "Mcp-Session-Id", canary)}}, code: "session-changed", stage: "settle"},
	{name: "another session id for the listing", steps: []httpStep{
		{"initialize", withSession("a", asJSON(helloJSON))}, {"notifications/initialized", accepted()},
		{"tools/list", respondWith(200, listJSON, "Content-Type", "application/json", "Mcp-Session-Id", "A")}}, code: "session-changed", stage: "tools/list"},
	{name: "a session, then 404", steps: []httpStep{
		{"initialize", withSession("s-"+canary, asJSON(helloJSON))}, {"notifications/initialized", accepted()},
		{"tools/list", respondWith(404, rpcError(2, -32001, canary), "Content-Type", "application/json")}}, code: "http-status", stage: "tools/list", advice: "the server's log"},
	{name: "404 on page 2", steps: append(atList(asJSON(toolsPage(2, `,"nextCursor":"`+canary+`"`, toolAlpha))),
		httpStep{`tools/list "` + canary + `"`, respondWith(404, canary)}), code: "http-status", stage: "tools/list"},

	{name: "a body cut short", steps: atInitialize(rawHTTP(header("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: 100000")+helloJSON, nil)), code: "transport-closed", stage: "initialize"},
	{name: "a chunked body cut short", steps: atInitialize(rawHTTP(header("HTTP/1.1 200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked")+"fffff\r\n"+helloJSON, nil)), code: "transport-closed", stage: "initialize"},
	{name: "a chunk that is none", steps: atList(rawHTTP(header("HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked")+canary, nil)), code: "transport-closed", stage: "tools/list"},
	{name: "Content-Length too small", steps: atInitialize(rawHTTP(header("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: 10")+helloJSON, nil)), code: "message-malformed", stage: "initialize"},
	{name: "a reset", steps: atInitialize(rawHTTP("", func(_ *httpTurn, c net.Conn) { c.(*net.TCPConn).SetLinger(0) })), code: "transport-closed", stage: "initialize", advice: "look at the server's log, and at a proxy's"},
	{name: "a reset in the stream", steps: atList(rawHTTP(header("HTTP/1.1 200 OK", "Content-Type: text/event-stream")+"data: "+canary+"\n", func(_ *httpTurn, c net.Conn) { c.(*net.TCPConn).SetLinger(0) })), code: "transport-closed", stage: "tools/list"},
	{name: "the end instead of an answer", steps: atInitialized(rawHTTP("", nil)), code: "transport-closed", stage: "settle"},
	{name: "the end in the header", steps: atInitialize(rawHTTP("HTTP/1.1 200 OK\r\nContent-Type: appl", nil)), code: "transport-closed", stage: "initialize"},
	{name: "no HTTP", steps: atInitialize(rawHTTP("220 "+canary+" ESMTP\r\n", nil)), code: "transport-closed", stage: "initialize"},
	{name: "a malformed status line", steps: atInitialize(rawHTTP(header("HTTP/1.1 "+canary+" OK", "Content-Type: application/json"), nil)), code: "transport-closed", stage: "initialize"},
	{name: "a malformed header line", steps: atInitialize(rawHTTP(header("HTTP/1.1 200 OK", canary+canary, "Content-Type: application/json")+helloJSON, nil)), code: "transport-closed", stage: "initialize"},
	{name: "two lengths", steps: atInitialize(rawHTTP(header("HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: 5", "Content-Length: 6")+helloJSON, nil)), code: "transport-closed", stage: "initialize"},
	{name: "101", steps: atInitialize(rawHTTP(header("HTTP/1.1 101 Switching Protocols", "Upgrade: "+canary, "Connection: Upgrade"), untilRead)), code: "http-status", stage: "initialize"},
	{name: "a header of 1 MB", steps: atInitialize(rawHTTP(header("HTTP/1.1 200 OK", "X: "+strings.Repeat(canary, 170000), "Content-Type: application/json")+helloJSON, nil)), code: "transport-closed", stage: "initialize"},

	{name: "hang at initialize", steps: atInitialize(hangHTTP), code: "timeout", stage: "initialize", slow: true, advice: "look at its log and at the URL's path"},
	{name: "hang at initialized", steps: atInitialized(hangHTTP), code: "timeout", stage: "settle", slow: true},
	{name: "hang at the listing", steps: atList(hangHTTP), code: "timeout", stage: "tools/list", slow: true},
	{name: "hang in the header", steps: atInitialize(rawHTTP("HTTP/1.1 200 OK\r\n", untilRead)), code: "timeout", stage: "initialize", slow: true},
	{name: "hang in a stream", steps: atList(liveSSE(func(x *httpTurn) { x.send("data: " + listJSON + "\n"); x.hold() })), code: "timeout", stage: "tools/list", slow: true},
	{name: "hang in a JSON body", steps: atList(func(x *httpTurn) {
		x.w.Header().Set("Content-Type", "application/json")
		x.send(listJSON[:40])
		x.hold()
	}), code: "timeout", stage: "tools/list", slow: true},
	{name: "hang at a reply", profile: "roots", steps: []httpStep{
		{"initialize", liveSSE(func(x *httpTurn) { x.ask(rootsRequest, rootsReply); x.hold() })},
		{`reply "r1"`, hangHTTP}}, code: "timeout", stage: "initialize", slow: true},
	{name: "a byte each 100 ms", steps: atInitialize(liveSSE(func(x *httpTurn) {
		x.every(100*time.Millisecond, func(i int) string { return ("data: " + helloJSON)[i : i+1] })
	})), code: "timeout", stage: "initialize", slow: true},
	{name: "a comment each 20 ms for ever", steps: atList(liveSSE(func(x *httpTurn) {
		x.every(20*time.Millisecond, func(int) string { return ": " + canary + "\n\n" })
	})), code: "timeout", stage: "tools/list", slow: true},
	{name: "a notification each 20 ms for ever", steps: atList(liveSSE(func(x *httpTurn) {
		x.every(20*time.Millisecond, func(int) string { return sseEvent(stray) })
	})), code: "timeout", stage: "tools/list", slow: true},
	{name: "a header line each 20 ms for ever", steps: atInitialize(rawHTTP("HTTP/1.1 200 OK\r\n", func(_ *httpTurn, c net.Conn) {
		for {
			if _, err := io.WriteString(c, "X-"+canary+": x\r\n"); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond) // the behaviour itself
		}
	})), code: "timeout", stage: "initialize", slow: true},
	{name: "100 Continue each 20 ms for ever", steps: atInitialize(rawHTTP("", func(_ *httpTurn, c net.Conn) {
		for {
			if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond) // the behaviour itself
		}
	})), code: "timeout", stage: "initialize", slow: true},
}

// The statuses that all mean the same.
func init() {
	for _, status := range []int{201, 202, 204, 206, 300, 304, 400, 402, 404, 405, 406, 409, 410, 415, 429, 500, 501, 502, 503, 504, 599, 999} {
		row := httpRow{code: "http-status", stage: "initialize"}
		switch status {
		case 300:
			row.code = "http-redirect"
		case 404, 405:
			row.advice = "was not found there or does not take POST"
		}
		row.name = fmt.Sprintf("%d at initialize", status)
		body := helloJSON
		if status == 204 || status == 304 {
			body = ""
		}
		row.steps = atInitialize(respondWith(status, body, "Content-Type", "application/json", "X-Error", canary))
		httpIncomplete = append(httpIncomplete, row)
	}
	for _, status := range []int{401, 403} {
		for stage, steps := range map[string]func(httpAnswer) []httpStep{"initialize": atInitialize, "settle": atInitialized, "tools/list": atList} {
			httpIncomplete = append(httpIncomplete, httpRow{
				name: fmt.Sprintf("%d at %s", status, stage), auth: "Bearer " + canary, code: "http-status", stage: stage,
				steps:  steps(respondWith(status, canary, "WWW-Authenticate", `Bearer resource_metadata="https://`+canary+`"`)),
				advice: "MCPEVAL_HTTP_AUTHORIZATION",
			})
		}
	}
	for _, status := range []int{202, 204, 404, 409, 429, 500, 503} {
		httpIncomplete = append(httpIncomplete,
			httpRow{name: fmt.Sprintf("%d at the listing", status), code: "http-status", stage: "tools/list",
				steps: atList(respondWith(status, ""))})
		if status >= 300 {
			httpIncomplete = append(httpIncomplete,
				httpRow{name: fmt.Sprintf("%d at initialized", status), code: "http-status", stage: "settle",
					steps: atInitialized(respondWith(status, "", "Retry-After", "1"))})
		}
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		location := []string{"Location", "/" + canary + "/"}
		httpIncomplete = append(httpIncomplete,
			httpRow{name: fmt.Sprintf("%d at initialize", status), code: "http-redirect", stage: "initialize",
				steps: atInitialize(respondWith(status, canary, location...))},
			httpRow{name: fmt.Sprintf("%d at initialized", status), code: "http-redirect", stage: "settle",
				steps: atInitialized(respondWith(status, "", location...))},
			httpRow{name: fmt.Sprintf("%d at the listing", status), code: "http-redirect", stage: "tools/list",
				steps: atList(respondWith(status, "", location...))})
	}
}

func TestHTTPTable(t *testing.T) {
	for _, row := range slices.Concat(httpComplete, httpIncomplete) {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.check(t)
		})
	}
}

// check runs one row with a server of its own.
func (row httpRow) check(t *testing.T) {
	t.Helper()
	s := newHTTPScript(t, slices.Clone(row.steps)...)
	s.authorize(row.auth)
	profile := row.profile
	if profile == "" {
		profile = "none"
	}
	limit := "30000"
	if row.slow {
		limit = "1000"
	}
	in := invocation{
		args: []string{"guidance", "--server", "row", "--profile", profile, "--settle-ms", "0", "--timeout-ms", limit, "--format", "json", "--url", s.url()},
	}
	if row.auth != "" {
		in.env = []string{"MCPEVAL_HTTP_AUTHORIZATION=" + row.auth}
	}
	r := in.run(t)
	s.finish()
	t.Logf("exit %d, %v, %s, %d MiB", r.exit, r.diagnoses()[profile], r.elapsed.Round(time.Millisecond), r.peak>>20)
	r.noCanary(t)
	if strings.Contains(r.stdout+r.stderr, s.server.Listener.Addr().String()) {
		t.Errorf("the URL came out: %s%s", r.stdout, r.stderr)
	}
	// What can be known at once is not reported by waiting for the timeout.
	if bound := 10 * time.Second; r.elapsed > bound {
		t.Errorf("took %s, want at most %s", r.elapsed, bound)
	}
	row.judge(t, r, profile)
}

func (row httpRow) judge(t *testing.T, r result, profile string) {
	t.Helper()
	exit := 0
	if row.code != "" {
		exit = 3
	}
	if got, want := r.diagnoses()[profile], (diagnosed{row.code, row.stage}); r.exit != exit || got != want {
		t.Errorf("exit %d, %v, want %d, %v\n%s", r.exit, got, exit, want, r.stderr)
	}
	if !strings.Contains(r.stderr, row.advice) {
		t.Errorf("stderr lacks %q: %s", row.advice, r.stderr)
	}
	if row.code == "" && row.advice == "" && r.stderr != "" {
		t.Errorf("a complete run said: %s", r.stderr)
	}
	got := readReport(t, r)
	if got.Complete != (row.code == "") || len(got.Profiles) != 1 {
		t.Fatalf("complete is %t: %s", got.Complete, r.stdout)
	}
	if p := got.Profiles[0]; row.code != "" {
		if p.Tools != nil || p.Error == nil || *p.Error != "profile-incomplete" {
			t.Errorf("an incomplete profile is %+v", p)
		}
	} else {
		want := row.tools
		if want == nil {
			want = []string{"alpha", "beta"}
		}
		if p.Tools == nil || !slices.Equal(*p.Tools, want) {
			t.Errorf("tools %v, want %v", p.Tools, want)
		}
	}
}

// httpReport is what these tests read of a JSON report.
type httpReport struct {
	Complete bool
	Passed   *bool
	Profiles []struct {
		Profile string
		Tools   *[]string
		Error   *string
	}
	Candidates, Defects []struct{ Profile, Tool string }
}

func readReport(t *testing.T, r result) httpReport {
	t.Helper()
	var got httpReport
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
		t.Fatalf("stdout is no JSON: %v\n%s\n%s", err, r.stdout, r.stderr)
	}
	return got
}

// A redirect's target sees nothing, whatever host it is.
func TestHTTPRedirectToAnotherHost(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s came to the other host", r.Method, r.URL)
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, steps := range [][]httpStep{
			atInitialize(respondWith(status, "", "Location", other.URL+"/"+canary)),
			atList(respondWith(status, "", "Location", other.URL+"/"+canary)),
		} {
			row := httpRow{steps: steps, auth: "Bearer " + canary, code: "http-redirect", stage: "initialize", advice: "redirects are never followed"}
			if len(steps) == 3 {
				row.stage = "tools/list"
			}
			row.check(t)
		}
	}
}

func TestHTTPNothingListens(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	for _, host := range []string{address, strings.Replace(address, "127.0.0.1", "localhost", 1), strings.Replace(address, "127.0.0.1", "[::1]", 1)} {
		r := mcpeval(t, "guidance", "--server", "x", "--settle-ms", "0", "--url", "http://"+host+httpPath)
		r.noCanary(t)
		for _, p := range everyProfile {
			if got := r.diagnoses()[p]; got != (diagnosed{"connection-refused", "initialize"}) || r.exit != 3 {
				t.Errorf("%s: exit %d, %v\n%s", p, r.exit, got, r.stderr)
			}
		}
		if r.elapsed > 10*time.Second {
			t.Errorf("took %s", r.elapsed)
		}
	}
	in := invocation{args: []string{"guidance", "--server", "x", "--profile", "none", "--url", "http://" + address}, env: []string{"MCPEVAL_IMAGE=1"}}
	if r := in.run(t); !strings.Contains(r.stderr, "localhost is the container itself") {
		t.Errorf("in the container: %s", r.stderr)
	}
}

var everyProfile = []string{"none", "roots", "sampling", "elicitation", "all"}
