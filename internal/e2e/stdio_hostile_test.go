//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// row is one server over stdio: what it does and what has to become of it.
type row struct {
	name  string // mcp-server NAME
	serve behaviour

	profiles []string // nil: all, alone
	timeout  int      // --timeout-ms; 0: 20000, far more than what is reported at once may take
	settle   int      // --settle-ms
	command  []string // instead of mcp-server NAME
	env      []string

	code, stage string   // of the diagnosis in every profile; empty: complete
	tools       []string // in every profile that is complete; nil: alpha and beta
	noInstr     bool     // complete without instructions
	stderr      []string // texts that stderr must have
	clean       bool     // complete, and stderr must be empty
	heavy       bool     // many bytes: five profiles, memory measured
	check       func(*testing.T, result)
}

const (
	initialize = "initialize"
	settling   = "settle"
	listing    = "tools/list"
)

const (
	fullMark   = `"c4n4ry"` // a JSON string
	noiseNote  = "lines on stdout were no MCP messages"
	noToolNote = "declares no tools capability"
)

// stdioRows are the behaviours. A number in a comment is that of a case from
// the field (CONTRACT.md's list of cases).
var stdioRows = []row{
	// Good servers, and what a good server may do.
	{name: "plain", serve: (*peer).serve, clean: true},
	{name: "answers-twice-at-the-end", clean: true, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		p.answer(p.page(""))
		p.answer(p.page(""))
		p.serve()
	}},
	{name: "exits-after-the-last-answer", clean: true, serve: func(p *peer) { p.initialize(); p.list() }},
	{name: "closes-stdin-after-the-last-request", clean: true, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		os.Stdin.Close()
		p.answer(p.page(""))
	}},
	{name: "unknown-members", clean: true, serve: func(p *peer) {
		p.expect("initialize")
		p.send(`{"zzz":[1],"jsonrpc":"2.0","id":` + p.id + `,"result":` + hello(`"capabilities":{"tools":{"listChanged":true},"c4n4ry":{}},"_meta":{"a":null},"instructions":`+prose) + `}`)
		p.serve()
	}},
	{name: "escaped-keys", clean: true, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		p.send(`{"json\u0072pc":"2\u002e0","\u0069d":` + p.id + `,"result":{"too\u006cs":[{"n\u0061me":"\u0061lpha","inputSchema":{}},{"name":"beta","inputSchema":{}}]}}`)
		p.serve()
	}},
	{name: "notifications-first", clean: true, serve: func(p *peer) { // 8
		p.expect("initialize")
		p.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"c4n4ry-log"}}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/c4n4ry-unknown"}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`)
		p.answer(p.hello)
		p.serve()
	}},
	{name: "crlf", clean: true, serve: func(p *peer) { // 3
		p.expect("initialize")
		p.write(response(p.id, p.hello) + "\r\n")
		p.expect("notifications/initialized")
		p.expect("tools/list")
		p.write(response(p.id, p.page("")) + "\r\n")
		p.serve()
	}},
	{name: "two-frames-in-one-write", clean: true, serve: func(p *peer) { // 3
		p.initialize()
		p.expect("tools/list")
		p.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"c4n4ry"}}` + "\n" + response(p.id, p.page("")) + "\n")
		p.serve()
	}},
	{name: "one-frame-in-three-writes", clean: true, serve: func(p *peer) { // 3
		p.initialize()
		p.expect("tools/list")
		frame := response(p.id, p.page("")) + "\n"
		for _, part := range []string{frame[:20], frame[20:100], frame[100:]} {
			p.write(part)
			time.Sleep(50 * time.Millisecond)
		}
		p.serve()
	}},
	{name: "500-tools-with-1-KiB-descriptions", clean: true, tools: sorted(many(500, 0)), serve: func(p *peer) { // 3
		entries := make([]string, 500)
		for i, name := range many(500, 0) {
			entries[i] = `{"name":"` + name + `","description":"` + strings.Repeat("c4n4ry-1", 128) + `","inputSchema":{"type":"object"}}`
		}
		p.page = func(string) string { return `{"tools":[` + strings.Join(entries, ",") + `]}` }
		p.serve()
	}},
	{name: "stderr-256-KiB", clean: true, serve: func(p *peer) { // 4
		fmt.Fprint(os.Stderr, strings.Repeat("c4n4ry-stderr\n", 256<<10/14))
		p.serve()
	}},
	{name: "stderr-256-KiB-one-line", clean: true, serve: func(p *peer) { // 4
		fmt.Fprint(os.Stderr, strings.Repeat("c4n4ry-s", 32<<10))
		p.serve()
	}},
	{name: "three-pages", clean: true, tools: sorted(append(append(many(4, 4), many(4, 8)...), many(4, 12)...)), serve: numbered(3, 4)}, // 12
	{name: "next-cursor-in-another-case", clean: true, serve: pageIs(`{"NextCursor":` + fullMark + `,"tools":[` + tool("alpha") + `,` + tool("beta") + `]}`)},
	{name: "a-name-of-128-characters", clean: true, tools: []string{strings.Repeat("n", 128)}, serve: pageIs(catalog(strings.Repeat("n", 128)))},
	{name: "names-of-every-kind", clean: true, tools: []string{"--", ".", ":", "::error::x", "A-Z", "_", "a.b:c"}, serve: pageIs(catalog("_", ".", "::error::x", ":", "--", "a.b:c", "A-Z"))}, // 20
	{name: "no-tool-at-all", clean: true, tools: []string{}, serve: pageIs(`{"tools":[]}`)},
	{name: "instructions-empty", clean: true, serve: helloIs(hello(`"capabilities":{"tools":{}},"instructions":""`))},
	{name: "instructions-absent", clean: true, noInstr: true, serve: helloIs(hello(`"capabilities":{"tools":{}}`))},
	{name: "instructions-with-a-lone-surrogate", clean: true, serve: helloIs(hello(`"capabilities":{"tools":{}},"instructions":"c4n4ry \ud800 \udc00 ` + "`alpha`" + `"`))},
	{name: "exactly-8-MiB", clean: true, heavy: true, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		p.send(filled(8<<20, `{"jsonrpc":"2.0","id":`+p.id+`,"result":{"tools":[`+tool("alpha")+`,`+tool("beta")+`],"_meta":{"x":"`, "c4n4ry..", `"}}}`))
		p.serve()
	}},
	{name: "exactly-8-MiB-crlf", clean: true, heavy: true, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		p.send(filled(8<<20, `{"jsonrpc":"2.0","id":`+p.id+`,"result":{"tools":[`+tool("alpha")+`,`+tool("beta")+`],"_meta":{"x":"`, "c4n4ry..", `"}}}`) + "\r")
		p.serve()
	}},
	{name: "10000-tools-on-20-pages", clean: true, heavy: true, tools: sorted(many(10000, 500)), serve: numbered(20, 500)},
	{name: "noise-just-under-64-MiB", heavy: true, stderr: []string{"1280 " + noiseNote}, profiles: []string{"all"}, serve: func(p *peer) {
		p.initialize()
		line := strings.Repeat("c4n4ry..", 50<<10/8-1) + "1234567"
		for range 1280 { // 62.5 MiB
			p.send(line)
		}
		p.serve()
	}},
	{name: "nested-250-deep", clean: true, serve: entryIs(`{"name":"beta","inputSchema":{"x":` + strings.Repeat("[", 246) + strings.Repeat("]", 246) + `}}`)},

	{name: "a-settle-window-longer-than-the-timeout", clean: true, timeout: 1000, settle: 1500, serve: (*peer).serve},

	// Notes: complete, but worth a word.
	{name: "banner-and-logs", stderr: []string{"8 " + noiseNote + " (profile all): logs belong on stderr"}, serve: func(p *peer) { // 1
		p.write("c4n4ry banner\n\n  \n\t\r\n=====\n\r\n")
		p.expect("initialize")
		p.send(`{"level":"info","msg":"c4n4ry"}`)
		p.send(`{"id":` + p.id + `,"msg":"c4n4ry"}`)
		p.answer(p.hello)
		p.send(`[1,2]`)
		p.send(`"c4n4ry"`)
		p.expect("notifications/initialized")
		p.expect("tools/list")
		p.send("\x1b[31mc4n4ry\x1b[0m \xff\xfe")
		p.send(`{"jsonrpc":"2.0","id":` + p.id + `,"result":`) // half a message is no message
		p.answer(p.page(""))
		p.send("after the last answer nothing is read")
		p.serve()
	}},
	{name: "one-line-of-noise", stderr: []string{"1 line on stdout was no MCP message (profile all)"}, serve: func(p *peer) {
		p.send("c4n4ry")
		p.serve()
	}},
	{name: "commands-for-the-runner", stderr: []string{"3 " + noiseNote}, serve: func(p *peer) { // 20
		p.write("::error::c4n4ry\n##[error]c4n4ry\n%0A::notice::c4n4ry\n")
		p.serve()
	}},
	{name: "no-tools-capability", tools: []string{}, stderr: []string{noToolNote + " in any selected profile"}, serve: func(p *peer) { // 10
		p.hello = hello(`"capabilities":{},"instructions":` + prose)
		p.initialize()
		if m := p.next(); m.Method != "" {
			p.complain("received %s", m.text)
		}
	}},
	{name: "no-tools-capability-for-none-only", profiles: []string{"none", "roots"}, stderr: []string{noToolNote + " in profile none: "}, serve: func(p *peer) { // 10
		p.expect("initialize")
		if p.profile == "none" {
			p.hello = hello(`"capabilities":{"prompts":{}},"instructions":` + prose)
		}
		p.answer(p.hello)
		p.serve()
	}, check: func(t *testing.T, r result) {
		if got := r.report(t); len(got.Profiles[0].Tools) != 0 || len(got.Profiles[1].Tools) != 2 {
			t.Errorf("tools: %v", got.Profiles)
		}
	}},

	// Requests of the server.
	{name: "asks-ping", clean: true, serve: asks(`{"jsonrpc":"2.0","id":"p","method":"ping"}`, `{"jsonrpc":"2.0","id":"p","result":{}}`)},
	{name: "asks-ping-with-our-id", clean: true, serve: asks(`{"jsonrpc":"2.0","id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":2,"result":{}}`)},
	{name: "asks-with-an-id-of-its-own-spelling", clean: true, serve: asks(`{"method":"ping","id":-1.50E+2,"jsonrpc":"2.0","params":{}}`, `{"jsonrpc":"2.0","id":-1.50E+2,"result":{}}`)},
	{name: "asks-with-an-escaped-id", clean: true, serve: asks(`{"method":"p\u0069ng","id":"\u0061\"\n\/","jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":"\u0061\"\n\/","result":{}}`)},
	{name: "asks-for-sampling", clean: true, serve: asks(`{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"c4n4ry"}}],"maxTokens":1}}`,
		`{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"Method not found"}}`)},
	{name: "asks-for-elicitation", clean: true, serve: asks(`{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"message":"c4n4ry","requestedSchema":{"type":"object","properties":{}}}}`,
		`{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"Method not found"}}`)},
	{name: "asks-for-what-nobody-knows", clean: true, serve: asks(`{"jsonrpc":"2.0","id":"","method":"c4n4ry/method"}`, `{"jsonrpc":"2.0","id":"","error":{"code":-32601,"message":"Method not found"}}`)},
	{name: "asks-for-tools-list", clean: true, serve: asks(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`)},
	{name: "asks-before-the-initialize-answer", clean: true, serve: func(p *peer) {
		p.expect("initialize")
		due := p.id
		p.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		p.expectText(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
		p.expectText(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
		p.id = due
		p.answer(p.hello)
		p.serve()
	}},
	{name: "asks-in-the-settle-window", clean: true, settle: 500, serve: func(p *peer) {
		p.initialize()
		p.send(`{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage"}`)
		p.expectText(`{"jsonrpc":"2.0","id":"s","error":{"code":-32601,"message":"Method not found"}}`)
		p.send(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
		p.expectText(`{"jsonrpc":"2.0","id":"r","result":{"roots":[]}}`)
		p.serve()
	}},
	{name: "roots-eight-times", clean: true, serve: rootsAsked(8, `"result":{"roots":[]}`)},
	{name: "roots-eight-times-on-each-page", clean: true, tools: sorted(append(many(2, 2), many(2, 4)...)), serve: func(p *peer) {
		p.initialize()
		for page := 1; page <= 2; page++ {
			p.expect("tools/list")
			due := p.id
			for range 8 {
				p.send(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`)
				p.expectText(`{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}`)
			}
			p.id = due
			p.answer(paged([]string{1: `"next"`, 2: ""}[page], many(2, 2*page)...))
		}
		p.serve()
	}},
	{name: "roots-nine-times-undeclared", profiles: []string{"sampling"}, clean: true, serve: rootsAsked(9, `"error":{"code":-32601,"message":"Method not found"}`)},
	{name: "roots-nine-times", code: "roots-limit", stage: listing, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		for range 9 {
			p.send(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`)
		}
		p.hang()
	}},
	{name: "roots-for-ever-in-the-settle-window", code: "roots-limit", stage: settling, settle: 5000, profiles: []string{"roots"}, serve: func(p *peer) {
		p.initialize()
		endless(`{"jsonrpc":"2.0","id":7,"method":"roots/list"}` + "\n")
	}},

	// What a server may need from the settle window, and late lists.
	{name: "registers-a-tool-late", clean: true, settle: 600, tools: []string{"alpha", "late"}, serve: func(p *peer) { // 9
		p.initialize()
		ready := time.Now().Add(150 * time.Millisecond)
		p.expect("tools/list")
		names := []string{"alpha"}
		if time.Now().After(ready) {
			names = append(names, "late")
		}
		p.answer(catalog(names...))
		p.serve()
	}},
	{name: "lists-only-when-it-has-the-roots", clean: true, settle: 600, serve: func(p *peer) { // 9
		p.initialize()
		time.Sleep(350 * time.Millisecond)
		p.send(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
		p.expectText(`{"jsonrpc":"2.0","id":"r","result":{"roots":[]}}`)
		p.serve()
	}},
	{name: "asks-for-roots-when-it-is-to-list", clean: true, serve: asks(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`, `{"jsonrpc":"2.0","id":"r","result":{"roots":[]}}`)},

	// Servers that go away.
	{name: "exits-at-once", code: "transport-closed", stage: initialize, serve: func(*peer) {}}, // 7
	{name: "exits-with-a-word", code: "transport-closed", stage: initialize, serve: func(p *peer) { // 7
		fmt.Fprintln(os.Stderr, "c4n4ry: API key is missing")
		p.send("c4n4ry: API key is missing")
		os.Exit(1)
	}},
	{name: "exits-when-asked", code: "transport-closed", stage: initialize, serve: func(p *peer) { p.expect("initialize") }},                                                       // 7
	{name: "exits-after-initialize", code: "transport-closed", stage: listing, serve: func(p *peer) { p.initialize() }},                                                            // 7
	{name: "exits-in-the-settle-window", code: "transport-closed", stage: settling, settle: 5000, serve: func(p *peer) { p.initialize() }},                                         // 7
	{name: "exits-after-page-1", code: "transport-closed", stage: listing, serve: func(p *peer) { p.page = pageOfMany; p.initialize(); p.list() }},                                 // 7
	{name: "exits-when-asked-for-page-2", code: "transport-closed", stage: listing, serve: func(p *peer) { p.page = pageOfMany; p.initialize(); p.list(); p.expect(listing) }},     // 7
	{name: "exits-in-mid-answer", code: "transport-closed", stage: listing, stderr: []string{"no newline at its end"}, serve: func(p *peer) { dies(p, 40) }},                       // 7
	{name: "exits-before-the-newline", code: "transport-closed", stage: listing, stderr: []string{"no newline at its end"}, serve: func(p *peer) { dies(p, 1) }},                   // 7
	{name: "exits-in-mid-initialize-answer", code: "transport-closed", stage: initialize, stderr: []string{"no newline at its end"}, serve: diesAtInitialize(`{"jsonrpc":"2.0",`)}, // 7
	{name: "kills-itself", code: "transport-closed", stage: initialize, serve: func(p *peer) {
		p.expect("initialize")
		p.write(`{"jsonrpc"`)
		exec.Command("kill", "-9", fmt.Sprint(os.Getpid())).Run()
		p.stall()
	}},
	{name: "closes-stdout", code: "transport-closed", stage: listing, serve: func(p *peer) { p.initialize(); os.Stdout.Close(); p.hang() }},
	{name: "closes-both-streams", code: "transport-closed", stage: initialize, serve: func(p *peer) { os.Stdin.Close(); os.Stdout.Close(); p.stall() }},
	{name: "leaves-stdout-to-a-child", code: "transport-closed", stage: initialize, serve: func(p *peer) {
		p.spawn("sleeper", func(c *exec.Cmd) { c.Stdout = os.Stdout })
		p.expect("initialize")
	}},
	{name: "command-missing", command: []string{"/nonexistent/c4n4ry-command", "c4n4ry-argument"}, code: "spawn-failed", stage: "start", stderr: []string{"check that the command exists"}}, // 7
	{name: "command-not-on-the-path", command: []string{"c4n4ry-command"}, code: "spawn-failed", stage: "start"},
	{name: "command-not-executable", command: []string{"testdata-file"}, code: "spawn-failed", stage: "start"},
	{name: "command-a-directory", command: []string{"testdata-dir"}, code: "spawn-failed", stage: "start"},
	{name: "command-no-program", command: []string{"testdata-text"}, code: "spawn-failed", stage: "start"},
	{name: "command-missing-in-the-image", command: []string{"/nonexistent/c4n4ry"}, env: []string{"MCPEVAL_IMAGE=1"}, code: "spawn-failed", stage: "start", stderr: []string{"node, npm, npx, uv, uvx, python3 and git"}},

	// Servers that hang.
	{name: "hangs-at-initialize", timeout: 1000, code: "timeout", stage: initialize, serve: (*peer).hang},
	{name: "hangs-without-reading", timeout: 1000, code: "timeout", stage: initialize, serve: (*peer).stall},
	{name: "hangs-after-initialize", timeout: 1000, code: "timeout", stage: listing, serve: func(p *peer) { p.initialize(); p.hang() }},
	{name: "hangs-at-page-2", timeout: 1000, code: "timeout", stage: listing, serve: func(p *peer) { p.page = pageOfMany; p.initialize(); p.list(); p.hang() }},
	{name: "hangs-in-mid-answer", timeout: 1000, code: "timeout", stage: listing, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		p.write(`{"jsonrpc":"2.0","id":` + p.id + `,"result":{"tools":[`)
		p.hang()
	}},
	{name: "a-byte-every-100-ms", timeout: 1000, code: "timeout", stage: initialize, serve: func(p *peer) {
		p.expect("initialize")
		for _, b := range []byte(response(p.id, p.hello)) {
			p.write(string(b))
			time.Sleep(100 * time.Millisecond)
		}
	}},
	{name: "pings-and-does-not-read", timeout: 1000, code: "timeout", stage: initialize, serve: func(p *peer) {
		endless(`{"jsonrpc":"2.0","id":"` + strings.Repeat("c4n4ry", 100) + `","method":"ping"}` + "\n")
	}},
	{name: "pings-and-does-not-read-in-the-settle-window", timeout: 1000, settle: 300, code: "timeout", stage: settling, serve: func(p *peer) {
		p.initialize()
		endless(`{"jsonrpc":"2.0","id":"` + strings.Repeat("c4n4ry", 100) + `","method":"ping"}` + "\n")
	}},
	{name: "indented-json", timeout: 1000, code: "timeout", stage: listing, stderr: []string{"a message must be one line of JSON each", "no indented JSON"}, serve: func(p *peer) { // 2
		p.initialize()
		p.expect("tools/list")
		var v any
		json.Unmarshal([]byte(response(p.id, p.page(""))), &v)
		text, _ := json.MarshalIndent(v, "", "  ")
		p.send(string(text))
		p.hang()
	}},
	{name: "noise-and-then-nothing", timeout: 1000, code: "timeout", stage: initialize, stderr: []string{"wrote lines on stdout that are no messages", "logs belong on stderr"}, serve: func(p *peer) {
		p.send("c4n4ry listening on http://localhost:3000/")
		p.hang()
	}},
	{name: "a-raw-nul-in-a-name", timeout: 1000, code: "timeout", stage: listing, serve: pageIs(catalog("al\x00pha"))}, // not JSON, so no message
	{name: "keys-in-another-case", timeout: 1000, code: "timeout", stage: initialize, serve: helloText(`{"JSONRPC":"2.0","ID":$ID,"RESULT":{}}` + "\n")},

	// Endless and enormous.
	{name: "an-endless-line", heavy: true, code: "frame-limit", stage: initialize, serve: func(p *peer) { endless(strings.Repeat("c4n4ry-garbage.", 1<<12)) }},
	{name: "an-endless-message", heavy: true, code: "frame-limit", stage: initialize, serve: func(p *peer) {
		p.expect("initialize")
		p.write(`{"jsonrpc":"2.0","id":` + p.id + `,"result":{"instructions":"`)
		endless(strings.Repeat("c4n4ry..", 1<<12))
	}},
	{name: "endless-lines", heavy: true, code: "frame-limit", stage: initialize, serve: func(p *peer) { endless(strings.Repeat(strings.Repeat("c4n4ry..", 64)+"\n", 64)) }},
	{name: "64-MiB-of-noise", heavy: true, code: "frame-limit", stage: listing, serve: func(p *peer) {
		p.initialize()
		line := strings.Repeat("c4n4ry..", 8<<10) // 64 KiB and its newline
		for range 1024 {
			p.send(line)
		}
		p.serve()
	}},
	{name: "endless-blank-lines", heavy: true, profiles: []string{"all"}, timeout: 60000, code: "frame-limit", stage: initialize, serve: func(p *peer) { endless(strings.Repeat(strings.Repeat(" ", 1000)+"\r\n", 64)) }},
	{name: "a-frame-of-8-MiB-and-a-byte-so-far", heavy: true, code: "frame-limit", stage: listing, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		p.write(strings.Repeat("c4n4ry..", 1<<20) + ".")
		p.hang()
	}},
	{name: "a-frame-of-8-MiB-and-a-byte", heavy: true, code: "frame-limit", stage: listing, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		p.send(filled(8<<20+1, `{"jsonrpc":"2.0","id":`+p.id+`,"result":{"tools":[],"_meta":{"x":"`, "c4n4ry..", `"}}}`))
		p.serve()
	}},
	{name: "notifications-for-ever", heavy: true, timeout: 60000, code: "frame-limit", stage: initialize, serve: func(p *peer) {
		endless(strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"`+strings.Repeat("c4n4ry", 700)+`"}}`+"\n", 16))
	}},
	{name: "pings-for-ever", heavy: true, timeout: 60000, code: "frame-limit", stage: initialize, serve: func(p *peer) {
		go p.hang()
		endless(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("c4n4ry", 2000) + `"}}` + "\n")
	}},
	{name: "10001-tools", heavy: true, code: "tool-limit", stage: listing, serve: pagesAre(func(cursor string) string {
		if cursor == "" {
			return paged(`"more"`, many(9999, 0)...)
		}
		return catalog(many(2, 9999)...)
	})},
	{name: "21-pages", code: "page-limit", stage: listing, serve: numbered(21, 1), check: asked(listing, 20)},                 // 12
	{name: "a-new-cursor-for-ever", code: "page-limit", stage: listing, serve: numbered(1<<30, 0), check: asked(listing, 20)}, // 12
	{name: "nested-257-deep", code: "frame-limit", stage: listing, serve: entryIs(`{"name":"beta","inputSchema":{"x":` + strings.Repeat("[", 257) + strings.Repeat("]", 257) + `}}`)},
	{name: "nested-a-million-deep", heavy: true, code: "frame-limit", stage: listing, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		p.answer(`{"tools":[],"x":` + strings.Repeat(`[`, 1<<20) + strings.Repeat(`]`, 1<<20) + `}`)
		p.serve()
	}},
	{name: "nested-objects-a-million-deep", heavy: true, code: "frame-limit", stage: listing, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		p.answer(`{"tools":[],"x":` + strings.Repeat(`{"a":`, 1<<20) + `0` + strings.Repeat(`}`, 1<<20) + `}`)
		p.serve()
	}},
	{name: "8-MiB-of-one-key", heavy: true, code: "message-malformed", stage: listing, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		p.send(filled(8<<20-100, `{"jsonrpc":"2.0","id":`+p.id+`,"result":{"tools":[],"x":{`, `"":0,`, `"a":0}}}`))
		p.serve()
	}},
	{name: "8-MiB-of-keys", heavy: true, clean: true, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		var keys strings.Builder
		for i := 0; keys.Len() < 8<<20-2000; i++ {
			keys.WriteString(`"` + strconv.Itoa(i) + `":0,`)
		}
		p.answer(`{"tools":[` + tool("alpha") + `,` + tool("beta") + `],"x":{` + keys.String() + `"zzz":0}}`)
		p.serve()
	}},
	{name: "8-MiB-of-instructions", heavy: true, stderr: []string{"characters"}, timeout: 60000, serve: func(p *peer) {
		p.hello = filled(8<<20-100, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"instructions":"`, "`c4n4ry``"+` \ud800 \n`, `"}`)
		p.serve()
	}},
	{name: "cursors-of-8-MiB", heavy: true, timeout: 60000, clean: true, tools: sorted(many(3, 0)), serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		for page, c := range []string{"c4n4ry-x", "c4n4ry-y"} {
			cursor := `"` + strings.Repeat(c, 1<<20-128) + `"`
			p.answer(paged(cursor, many(1, page)...))
			if m := p.expect("tools/list"); string(m.Params.Cursor) != cursor {
				p.complain("the cursor did not come back as it was sent")
			}
		}
		p.answer(catalog(many(1, 2)...))
		p.serve()
	}},
	{name: "cursors-of-8-MiB-of-escapes", heavy: true, timeout: 60000, code: "cursor-repeated", stage: listing, serve: func(p *peer) {
		p.initialize()
		for page, c := range []string{`\u0061\u0062`, "aba\\u0062"} {
			p.expect("tools/list")
			p.answer(paged(`"`+strings.Repeat(c, (8<<20-512)/12/2*[]int{2, 1}[page])+`"`, many(1, page)...))
		}
		p.hang()
	}},
	// Every text that is kept, and every one that is read, is as large as it
	// may be.
	{name: "8-MiB-of-all-at-once", heavy: true, timeout: 60000, stderr: []string{"characters"}, tools: sorted(long(10000)), serve: func(p *peer) {
		p.hello = filled(8<<20-100, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"instructions":"`, "`"+long(1)[0]+"`c4n4ry\\n", `"}`)
		p.initialize()
		p.expect("tools/list")
		var page strings.Builder
		page.WriteString(`{"jsonrpc":"2.0","id":` + p.id + `,"result":{"tools":[`)
		for i, name := range long(10000) {
			if i > 0 {
				page.WriteString(",")
			}
			page.WriteString(`{"name":"` + name + `","inputSchema":{}}`)
		}
		page.WriteString(`],"x":{`)
		for i := 0; page.Len() < 8<<20-100; i++ {
			page.WriteString(`"` + strconv.Itoa(i) + `":0,`)
		}
		page.WriteString(`"z":0}}}`)
		p.send(page.String())
		p.serve()
	}},
	{name: "an-id-of-8-MiB", heavy: true, timeout: 60000, clean: true, serve: func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		due, id := p.id, `"`+strings.Repeat("c4n4ry..", 1<<20-64)+`"`
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
		if m := p.next(); m.text != response(id, `{}`) {
			p.complain("the id did not come back as it was sent")
		}
		p.id = due
		p.answer(p.page(""))
		p.serve()
	}},

	// Messages that break the rules.
	{name: "repeated-key", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[]},"result":{"tools":[]}}` + "\n")},
	{name: "repeated-key-nested", code: "message-malformed", stage: listing, serve: entryIs(`{"name":"beta","inputSchema":{"a":{"c4n4ry":1,"c4n4ry":1}}}`)},
	{name: "repeated-key-escaped", code: "message-malformed", stage: listing, serve: entryIs(`{"name":"beta","n\u0061me":"gamma","inputSchema":{}}`)},
	{name: "repeated-id", code: "message-malformed", stage: initialize, serve: helloText(`{"jsonrpc":"2.0","id":7,"id":$ID,"result":{}}` + "\n")},
	{name: "repeated-key-in-a-notification", code: "message-malformed", stage: initialize, serve: helloText(`{"jsonrpc":"2.0","method":"x","params":{"a":1,"a":2}}` + "\n")},
	{name: "result-in-another-case", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":$ID,"Result":{"tools":[]}}` + "\n")},
	{name: "id-in-another-case", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","Id":$ID,"result":{"tools":[]}}` + "\n")},
	{name: "tools-in-another-case", code: "catalog-error", stage: listing, serve: pageIs(`{"Tools":[]}`)},
	{name: "name-in-another-case", code: "entry-malformed", stage: listing, serve: entryIs(`{"Name":"beta","inputSchema":{}}`)},
	{name: "schema-in-another-case", code: "entry-malformed", stage: listing, serve: entryIs(`{"name":"beta","inputschema":{}}`)},
	{name: "version-in-another-case", code: "initialize-error", stage: initialize, serve: helloIs(`{"protocolversion":"2025-06-18","capabilities":{"tools":{}}}`)},
	{name: "capabilities-in-another-case", code: "initialize-error", stage: initialize, serve: helloIs(`{"protocolVersion":"2025-06-18","Capabilities":{"tools":{}}}`)},
	{name: "no-jsonrpc", code: "message-malformed", stage: listing, serve: listText(`{"id":$ID,"result":{"tools":[]}}` + "\n")},
	{name: "jsonrpc-1", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"1.0","id":$ID,"result":{"tools":[]}}` + "\n")},
	{name: "jsonrpc-a-number", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":2.0,"id":$ID,"result":{"tools":[]}}` + "\n")},
	{name: "jsonrpc-null", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":null,"id":$ID,"result":{"tools":[]}}` + "\n")},
	{name: "invalid-utf-8", code: "message-malformed", stage: listing, serve: entryIs(`{"name":"beta","description":"c4n4ry ` + "\xff" + `","inputSchema":{}}`)},
	{name: "overlong-utf-8", code: "message-malformed", stage: listing, serve: entryIs(`{"name":"beta","description":"c4n4ry ` + "\xc0\xaf" + `","inputSchema":{}}`)},
	{name: "raw-surrogate", code: "message-malformed", stage: listing, serve: entryIs(`{"name":"beta","description":"c4n4ry ` + "\xed\xa0\x80" + `","inputSchema":{}}`)},
	{name: "batch", code: "message-malformed", stage: listing, serve: listText(`[{"jsonrpc":"2.0","id":$ID,"result":{"tools":[]}}]` + "\n")},
	{name: "batch-of-notifications", code: "message-malformed", stage: initialize, serve: helloText(`[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","method":"y"}]` + "\n")},
	{name: "result-and-error", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[]},"error":{"code":1,"message":"c4n4ry"}}` + "\n")},
	{name: "result-and-error-null", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[]},"error":null}` + "\n")},
	{name: "neither-result-nor-error", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":$ID}` + "\n")},
	{name: "id-wrong", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":77,"result":{"tools":[]}}` + "\n")},
	{name: "id-a-string", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":"$ID","result":{"tools":[]}}` + "\n")},
	{name: "id-a-fraction", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":$ID.0,"result":{"tools":[]}}` + "\n")},
	{name: "id-missing", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","result":{"tools":[]}}` + "\n")},
	{name: "id-null", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"c4n4ry"}}` + "\n")},
	{name: "id-of-the-last-request", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}` + "\n")},
	{name: "answers-initialize-twice", code: "message-malformed", stage: listing, serve: func(p *peer) { p.expect("initialize"); p.answer(p.hello); p.answer(p.hello); p.serve() }},
	{name: "answers-in-the-settle-window", code: "message-malformed", stage: settling, settle: 5000, serve: func(p *peer) { p.initialize(); p.answer(p.hello); p.serve() }},
	{name: "answers-the-listing-unasked", code: "message-malformed", stage: settling, settle: 5000, serve: func(p *peer) { p.initialize(); p.send(response("2", p.page(""))); p.serve() }},
	{name: "answers-page-1-twice", code: "message-malformed", stage: listing, serve: func(p *peer) {
		p.page = pageOfMany
		p.initialize()
		p.expect("tools/list")
		p.answer(p.page(""))
		p.answer(p.page(""))
		p.serve()
	}},
	{name: "request-with-a-null-id", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":null,"method":"ping"}` + "\n")},
	{name: "request-with-an-object-id", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":{"c4n4ry":1},"method":"ping"}` + "\n")},
	{name: "request-with-a-result", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":$ID,"method":"ping","result":{"tools":[]}}` + "\n")},
	{name: "method-a-number", code: "message-malformed", stage: listing, serve: listText(`{"jsonrpc":"2.0","id":3,"method":4}` + "\n")},

	// The answer to initialize.
	{name: "version-2024-11-05", code: "protocol-version", stage: initialize, stderr: []string{"--protocol 2024-11-05"}, serve: versionIs(`"2024-11-05"`)},             // 13
	{name: "version-2025-11-25", code: "protocol-version", stage: initialize, stderr: []string{"answered a newer protocol version"}, serve: versionIs(`"2025-11-25"`)}, // 13
	{name: "version-2025-6-18", code: "protocol-version", stage: initialize, serve: versionIs(`"2025-6-18"`)},                                                          // 13
	{name: "version-empty", code: "protocol-version", stage: initialize, serve: versionIs(`""`)},                                                                       // 13
	{name: "version-with-a-blank", code: "protocol-version", stage: initialize, serve: versionIs(`"2025-06-18 "`)},
	{name: "version-a-number", code: "protocol-version", stage: initialize, serve: versionIs(`20250618`)}, // 13
	{name: "version-null", code: "protocol-version", stage: initialize, serve: versionIs(`null`)},
	{name: "version-missing", code: "initialize-error", stage: initialize, serve: helloIs(`{"capabilities":{"tools":{}}}`)},
	{name: "version-prose", code: "protocol-version", stage: initialize, serve: versionIs(`"c4n4ry\n::error::c4n4ry"`)},                                     // 20
	{name: "initialize-error", code: "initialize-error", stage: initialize, serve: errorIs(`{"code":-32000,"message":"c4n4ry-error","data":{"c4n4ry":1}}`)}, // 13
	{name: "initialize-error-no-object", code: "initialize-error", stage: initialize, serve: errorIs(`"c4n4ry-error"`)},
	{name: "initialize-error-null", code: "initialize-error", stage: initialize, serve: errorIs(`null`)},
	{name: "initialize-unsupported-version", code: "protocol-version", stage: initialize, serve: errorIs(`{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05"],"requested":"2025-06-18"}}`)},
	{name: "initialize-unknown", code: "protocol-version", stage: initialize, stderr: []string{"--protocol 2026-07-28"}, serve: errorIs(`{"code":-32601,"message":"c4n4ry"}`)},
	{name: "initialize-of-2026-07-28", code: "protocol-version", stage: initialize, stderr: []string{"--protocol 2026-07-28"}, serve: errorIs(`{"code":-32022,"message":"c4n4ry","data":{"supported":["2026-07-28"]}}`)},
	{name: "initialize-null", code: "initialize-error", stage: initialize, serve: helloIs(`null`)},
	{name: "initialize-an-array", code: "initialize-error", stage: initialize, serve: helloIs(`[]`)},
	{name: "initialize-a-string", code: "initialize-error", stage: initialize, serve: helloIs(fullMark)},
	{name: "initialize-empty", code: "initialize-error", stage: initialize, serve: helloIs(`{}`)},
	{name: "capabilities-missing", code: "initialize-error", stage: initialize, serve: helloIs(`{"protocolVersion":"2025-06-18"}`)},
	{name: "capabilities-an-array", code: "initialize-error", stage: initialize, serve: helloIs(hello(`"capabilities":[]`))},
	{name: "capabilities-null", code: "initialize-error", stage: initialize, serve: helloIs(hello(`"capabilities":null`))},
	{name: "tools-capability-null", code: "initialize-error", stage: initialize, serve: helloIs(hello(`"capabilities":{"tools":null}`))},
	{name: "tools-capability-true", code: "initialize-error", stage: initialize, serve: helloIs(hello(`"capabilities":{"tools":true}`))},
	{name: "tools-capability-an-array", code: "initialize-error", stage: initialize, serve: helloIs(hello(`"capabilities":{"tools":[]}`))},
	{name: "instructions-null", code: "initialize-error", stage: initialize, serve: helloIs(hello(`"capabilities":{"tools":{}},"instructions":null`))},
	{name: "instructions-a-number", code: "initialize-error", stage: initialize, serve: helloIs(hello(`"capabilities":{"tools":{}},"instructions":8`))},
	{name: "instructions-a-list", code: "initialize-error", stage: initialize, serve: helloIs(hello(`"capabilities":{"tools":{}},"instructions":["c4n4ry"]`))},

	// The catalog.
	{name: "listing-unknown", code: "catalog-error", stage: listing, serve: listErrorIs(`{"code":-32601,"message":"c4n4ry"}`)}, // 10
	{name: "listing-error", code: "catalog-error", stage: listing, serve: listErrorIs(`{"code":1,"message":"c4n4ry"}`)},
	{name: "listing-refused-on-page-2", code: "catalog-error", stage: listing, serve: func(p *peer) {
		p.page = pageOfMany
		p.initialize()
		p.list()
		p.expect("tools/list")
		p.send(`{"jsonrpc":"2.0","id":` + p.id + `,"error":{"code":-32602,"message":"c4n4ry: invalid cursor"}}`)
		p.hang()
	}},
	{name: "tools-null", code: "catalog-error", stage: listing, serve: pageIs(`{"tools":null}`)}, // 10
	{name: "tools-an-object", code: "catalog-error", stage: listing, serve: pageIs(`{"tools":{"alpha":{}}}`)},
	{name: "tools-missing", code: "catalog-error", stage: listing, serve: pageIs(`{}`)},
	{name: "page-null", code: "catalog-error", stage: listing, serve: pageIs(`null`)},
	{name: "page-an-array", code: "catalog-error", stage: listing, serve: pageIs(`[` + tool("alpha") + `]`)},
	{name: "entry-a-string", code: "entry-malformed", stage: listing, serve: entryIs(`"beta"`)},
	{name: "entry-null", code: "entry-malformed", stage: listing, serve: entryIs(`null`)},
	{name: "entry-an-array", code: "entry-malformed", stage: listing, serve: entryIs(`["name","beta"]`)},
	{name: "entry-empty", code: "entry-malformed", stage: listing, serve: entryIs(`{}`)},
	{name: "name-missing", code: "entry-malformed", stage: listing, serve: entryIs(`{"title":"c4n4ry","inputSchema":{}}`)},
	{name: "name-null", code: "entry-malformed", stage: listing, serve: entryIs(`{"name":null,"inputSchema":{}}`)},
	{name: "name-a-number", code: "entry-malformed", stage: listing, serve: entryIs(`{"name":5,"inputSchema":{}}`)},
	{name: "name-empty", code: "entry-malformed", stage: listing, serve: entryIs(tool(""))},
	{name: "name-of-129-characters", code: "entry-malformed", stage: listing, serve: entryIs(tool(strings.Repeat("n", 129)))},
	{name: "name-with-a-blank", code: "entry-malformed", stage: listing, serve: entryIs(tool("c4n4ry tool"))},
	{name: "name-with-a-line-break", code: "entry-malformed", stage: listing, serve: entryIs(tool(`c4n4ry\n::error::x`))}, // 20
	{name: "name-with-a-line-break-at-its-end", code: "entry-malformed", stage: listing, serve: entryIs(tool(`beta\n`))},  // 20
	{name: "name-with-nul", code: "entry-malformed", stage: listing, serve: entryIs(tool(`c4n4ry\u0000`))},
	{name: "name-with-a-tick", code: "entry-malformed", stage: listing, serve: entryIs(tool("c4n4ry`"))},
	{name: "name-with-an-umlaut", code: "entry-malformed", stage: listing, serve: entryIs(tool("c4n4ry-ü"))},
	{name: "name-a-surrogate", code: "entry-malformed", stage: listing, serve: entryIs(tool(`c4n4ry\ud800`))},
	{name: "name-for-the-runner", code: "entry-malformed", stage: listing, serve: entryIs(tool("##[error]c4n4ry"))}, // 20
	{name: "schema-missing", code: "entry-malformed", stage: listing, serve: entryIs(`{"name":"beta"}`)},
	{name: "schema-null", code: "entry-malformed", stage: listing, serve: entryIs(`{"name":"beta","inputSchema":null}`)},
	{name: "schema-true", code: "entry-malformed", stage: listing, serve: entryIs(`{"name":"beta","inputSchema":true}`)},
	{name: "schema-an-array", code: "entry-malformed", stage: listing, serve: entryIs(`{"name":"beta","inputSchema":[]}`)},
	{name: "schema-a-string", code: "entry-malformed", stage: listing, serve: entryIs(`{"name":"beta","inputSchema":"{}"}`)},
	{name: "one-name-twice-on-a-page", code: "tool-duplicate", stage: listing, serve: pageIs(catalog("alpha", "beta", "alpha"))}, // 12
	{name: "one-name-twice-with-an-escape", code: "tool-duplicate", stage: listing, serve: pageIs(catalog("alpha", `\u0061lpha`))},
	{name: "one-name-twice-across-pages", code: "tool-duplicate", stage: listing, serve: pagesAre(func(cursor string) string { // 12
		if cursor == "" {
			return paged(fullMark, "alpha", "beta")
		}
		return catalog("gamma", "beta")
	})},
	{name: "cursor-null", code: "cursor-malformed", stage: listing, serve: pageIs(paged(`null`, "alpha"))},    // 11
	{name: "cursor-a-number", code: "cursor-malformed", stage: listing, serve: pageIs(paged(`8`, "alpha"))},   // 11
	{name: "cursor-an-object", code: "cursor-malformed", stage: listing, serve: pageIs(paged(`{}`, "alpha"))}, // 11
	{name: "cursor-an-array", code: "cursor-malformed", stage: listing, serve: pageIs(paged(`["c4n4ry"]`, "alpha"))},
	{name: "cursor-false", code: "cursor-malformed", stage: listing, serve: pageIs(paged(`false`, "alpha"))},
	{name: "cursor-empty", code: "cursor-malformed", stage: listing, serve: pageIs(paged(`""`, "alpha"))},
	{name: "always-the-same-page", code: "tool-duplicate", stage: listing, serve: pageIs(paged(fullMark, "alpha", "beta"))}, // 12
	{name: "always-the-same-cursor", code: "cursor-repeated", stage: listing, serve: cursorsAre(fullMark, fullMark), check: asked(listing, 2)},
	{name: "cursors-c1-c2-c1", code: "cursor-repeated", stage: listing, serve: cursorsAre(`"c1"`, `"c2"`, `"c1"`), check: asked(listing, 3)}, // 12
	{name: "cursor-repeated-with-an-escape", code: "cursor-repeated", stage: listing, serve: cursorsAre(`"c4n4ry"`, `"c4n\u0034ry"`), check: asked(listing, 2)},
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// long are names as long as they may be.
func long(n int) []string {
	names := many(n, 0)
	for i, name := range names {
		names[i] = name + strings.Repeat("-", 128-len(name))
	}
	return names
}

// pageOfMany is the first of two pages.
func pageOfMany(string) string { return paged(fullMark, "alpha", "beta") }

// dies writes its listing without the last bytes.
func dies(p *peer, short int) {
	p.initialize()
	p.expect("tools/list")
	frame := response(p.id, p.page("")) + "\n"
	p.write(frame[:len(frame)-short])
}

func diesAtInitialize(text string) behaviour {
	return func(p *peer) { p.expect("initialize"); p.write(text) }
}

func versionIs(version string) behaviour {
	return helloIs(`{"protocolVersion":` + version + `,"capabilities":{"tools":{}},"serverInfo":{"name":"c4n4ry","version":"c4n4ry"}}`)
}

func errorIs(object string) behaviour {
	return helloText(`{"jsonrpc":"2.0","id":$ID,"error":` + object + `}` + "\n")
}

func listErrorIs(object string) behaviour {
	return listText(`{"jsonrpc":"2.0","id":$ID,"error":` + object + `}` + "\n")
}

// cursorsAre gives one page a cursor, each with another tool.
func cursorsAre(cursors ...string) behaviour {
	return func(p *peer) {
		p.initialize()
		for i, cursor := range cursors {
			p.expect("tools/list")
			p.answer(paged(cursor, many(1, i)...))
		}
		p.hang()
	}
}

// asked checks how often a method was asked for.
func asked(method string, times int) func(*testing.T, result) {
	return func(t *testing.T, r result) {
		if got := strings.Count(r.recorded("received-all"), `"method":"`+method+`"`); got != times {
			t.Errorf("%s was asked for %d times, not %d", method, got, times)
		}
	}
}

// TestStdioBehaviours runs every row once. The other renderings are made of
// what the report holds: internal/render looks through them.
func TestStdioBehaviours(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range stdioRows {
		if seen[row.name] {
			t.Errorf("%s: two rows of one name", row.name)
		}
		seen[row.name] = true
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if row.heavy {
				heavy(t)
			}
			row.judge(t, row.run(t))
		})
	}
}

func (row row) run(t *testing.T) result {
	t.Helper()
	// Memory is measured without the race detector's own.
	in := invocation{scratch: t.TempDir(), env: row.env, built: row.heavy}
	in.args = []string{"guidance", "--server", "hostile", "--format", "json",
		"--timeout-ms", fmt.Sprint(max(row.timeout, 1000)), "--settle-ms", fmt.Sprint(row.settle)}
	if row.timeout == 0 {
		in.args[6] = "20000"
	}
	switch {
	case row.profiles != nil:
		for _, p := range row.profiles {
			in.args = append(in.args, "--profile", p)
		}
	case !row.heavy:
		in.args = append(in.args, "--profile", "all")
	}
	command := slices.Clone(row.command)
	switch {
	case command == nil:
		command = []string{"mcp-server", row.name}
	case strings.HasPrefix(command[0], "testdata-"):
		command[0] = notACommand(t, in.scratch, command[0])
	}
	in.args = append(append(in.args, "--"), command...)
	r := in.run(t)
	r.noCanary(t)
	if complaints := r.recorded("complaints"); complaints != "" {
		t.Errorf("the server complains: %s", complaints)
	}
	return r
}

// notACommand makes a file that cannot be started.
func notACommand(t *testing.T, dir, kind string) string {
	t.Helper()
	path := filepath.Join(dir, "c4n4ry-command")
	var err error
	switch kind {
	case "testdata-dir":
		err = os.Mkdir(path, 0o777)
	case "testdata-text":
		err = os.WriteFile(path, []byte("c4n4ry, and no program"), 0o777)
	default:
		err = os.WriteFile(path, []byte("#!/bin/sh\n"), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// judge holds one JSON run against its row.
func (row row) judge(t *testing.T, r result) {
	t.Helper()
	profiles := row.profiles
	switch {
	case profiles == nil && row.heavy:
		profiles = []string{"none", "roots", "sampling", "elicitation", "all"}
	case profiles == nil:
		profiles = []string{"all"}
	}
	got := r.report(t)
	outcome := "complete"
	if row.code != "" {
		outcome = row.code + " at " + row.stage
	}
	if row.code == "" {
		if r.exit != 0 || !got.Complete || got.Passed == nil || !*got.Passed {
			t.Errorf("exit status %d, complete %v, stderr %s; want a complete run", r.exit, got.Complete, r.stderr)
		}
	} else {
		if r.exit != 3 || got.Complete || got.Passed != nil || len(got.Candidates)+len(got.Defects) > 0 {
			t.Errorf("exit status %d, report %s; want an incomplete run without a verdict", r.exit, r.stdout)
		}
	}
	said := r.diagnoses()
	for i, p := range got.Profiles {
		if p.Profile != profiles[i] {
			t.Fatalf("profile %s, not %s", p.Profile, profiles[i])
		}
		if want := (diagnosed{row.code, row.stage}); said[p.Profile] != want {
			t.Errorf("profile %s: diagnosis %v, not %v; stderr: %s", p.Profile, said[p.Profile], want, r.stderr)
		}
		if row.code != "" {
			continue
		}
		want := row.tools
		if want == nil {
			want = []string{"alpha", "beta"}
		}
		if row.check == nil && !slices.Equal(p.Tools, want) {
			t.Errorf("profile %s: %d tools %.200q, not %.200q", p.Profile, len(p.Tools), p.Tools, want)
		}
		if p.InstructionsPresent == nil || *p.InstructionsPresent == row.noInstr {
			t.Errorf("profile %s: instructions_present %v", p.Profile, p.InstructionsPresent)
		}
	}
	for _, text := range row.stderr {
		if !strings.Contains(r.stderr, text) {
			t.Errorf("stderr lacks %q: %s", text, r.stderr)
		}
	}
	if row.clean && r.stderr != "" {
		t.Errorf("stderr: %s", r.stderr)
	}
	if row.stage == initialize && strings.Contains(r.recorded("received-all"), "notifications/initialized") {
		t.Error("notifications/initialized was sent all the same")
	}
	if row.check != nil {
		row.check(t, r)
	}
	if row.heavy {
		r.inBounds(t)
	}
	// What is known at once is reported at once: everything but a timeout
	// has 20 s or more for what takes a fraction of a second.
	if limit := time.Duration(row.settle)*time.Millisecond + 10*time.Second; row.code != "" && !row.heavy && r.elapsed > limit {
		t.Errorf("took %s", r.elapsed)
	}
	if row.code == "timeout" && r.elapsed < time.Duration(row.timeout)*time.Millisecond {
		t.Errorf("took only %s", r.elapsed)
	}
	t.Logf("| %s | %s | %.2f s | %d MiB |", row.name, outcome, r.elapsed.Seconds(), r.peak>>20)
}
