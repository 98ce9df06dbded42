//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// behaviour is one scripted server. When it returns, the server exits with
// status 0.
type behaviour func(*peer)

// scriptedServer is the command mcp-server BEHAVIOUR.
func scriptedServer() {
	// Should mcpeval fail to end a server that hangs, this does.
	time.AfterFunc(2*time.Minute, func() { os.Exit(70) })
	if len(os.Args) < 2 {
		os.Exit(64)
	}
	act, ok := lookUp(os.Args[1])
	if !ok {
		fmt.Fprintln(os.Stderr, "no such behaviour")
		os.Exit(64)
	}
	act(&peer{
		in:      bufio.NewReaderSize(os.Stdin, 64<<10),
		scratch: os.Getenv(scratchVar),
		hello:   hello(`"capabilities":{"tools":{}},"instructions":` + prose),
		page:    func(string) string { return catalog("alpha", "beta") },
	})
}

func lookUp(name string) (behaviour, bool) {
	for _, row := range stdioRows {
		if row.name == name {
			return row.serve, true
		}
	}
	for _, more := range []map[string]behaviour{scriptBehaviours, wireBehaviours, crowdBehaviours, againBehaviours, cleanupBehaviours} {
		if act, ok := more[name]; ok {
			return act, true
		}
	}
	return nil, false
}

// peer is the server's end of one connection.
type peer struct {
	in      *bufio.Reader
	scratch string
	profile string                     // by the declared capabilities; empty before initialize
	early   []byte                     // received before the profile was known
	id      string                     // of the request that is due, as it came
	hello   string                     // result of initialize
	page    func(cursor string) string // result of tools/list; the cursor is JSON, or empty
	atEOF   func()                     // at the end of stdin; nil: exit
}

// prose is instructions as a JSON string.
const prose = `"Call ` + "`alpha`" + ` first, then ` + "`beta`" + `. c4n4ry-instructions"`

// hello makes a result of initialize with the right version.
func hello(members string) string {
	return `{"protocolVersion":"2025-06-18","serverInfo":{"name":"c4n4ry-name","version":"c4n4ry-version"},` + members + `}`
}

// tool makes one entry of a catalog.
func tool(name string) string {
	return `{"name":"` + name + `","title":"c4n4ry-title","description":"c4n4ry-description ` + "`gamma`" + `",` +
		`"inputSchema":{"type":"object","properties":{"c4n4ry-property":{"type":"string","description":"c4n4ry-schema"}}}}`
}

func catalog(names ...string) string { return paged("", names...) }

// paged makes a page; nextCursor is JSON, or empty for none.
func paged(nextCursor string, names ...string) string {
	entries := make([]string, len(names))
	for i, name := range names {
		entries[i] = tool(name)
	}
	page := `{"tools":[` + strings.Join(entries, ",") + `]`
	if nextCursor != "" {
		page += `,"nextCursor":` + nextCursor
	}
	return page + `}`
}

// incoming is one message that mcpeval sent.
type incoming struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Capabilities map[string]json.RawMessage `json:"capabilities"`
		Cursor       json.RawMessage            `json:"cursor"`
	} `json:"params"`
	text string
}

// next reads a message and records its bytes. At the end of stdin the server
// exits.
func (p *peer) next() incoming {
	line, err := p.in.ReadBytes('\n')
	p.record(line)
	if err != nil {
		if p.atEOF != nil {
			p.atEOF()
		}
		os.Exit(0)
	}
	m := incoming{text: strings.TrimSuffix(string(line), "\n")}
	if err := json.Unmarshal(line, &m); err != nil {
		p.complain("received no JSON: %q", line)
	}
	if m.Method == "initialize" {
		p.profile = profileOf(m.Params.Capabilities)
		p.record(nil)
	}
	if m.Method != "" && m.ID != nil {
		p.id = string(m.ID)
	}
	return m
}

func profileOf(capabilities map[string]json.RawMessage) string {
	if len(capabilities) == 3 {
		return "all"
	}
	for name := range capabilities {
		return name
	}
	return "none"
}

// record keeps what was received, by profile, in the run's folder.
func (p *peer) record(line []byte) {
	p.early = append(p.early, line...)
	if p.profile != "" {
		p.note("received-"+p.profile, string(p.early))
		p.early = nil
	}
}

// note appends to a file of the run's folder.
func (p *peer) note(name, text string) {
	f, err := os.OpenFile(filepath.Join(p.scratch, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		f.WriteString(text)
		f.Close()
	}
}

// complain tells the test what mcpeval did wrong, and exits.
func (p *peer) complain(format string, args ...any) {
	p.note("complaints", fmt.Sprintf(format, args...)+"\n")
	os.Exit(65)
}

// expect reads the next message, which must have that method.
func (p *peer) expect(method string) incoming {
	m := p.next()
	if m.Method != method {
		p.complain("received %s instead of %s", m.text, method)
	}
	return m
}

// expectText reads the next message, which must be that text.
func (p *peer) expectText(want string) {
	if m := p.next(); m.text != want {
		p.complain("received %s instead of %s", m.text, want)
	}
}

func (p *peer) write(text string) { os.Stdout.WriteString(text) }

func (p *peer) send(line string) { p.write(line + "\n") }

// answer answers the request that is due with a result.
func (p *peer) answer(result string) { p.send(response(p.id, result)) }

func response(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

// initialize goes through the opening as it should be.
func (p *peer) initialize() {
	p.expect("initialize")
	p.answer(p.hello)
	p.expect("notifications/initialized")
}

// list answers one tools/list as it should be.
func (p *peer) list() {
	m := p.expect("tools/list")
	p.answer(p.page(string(m.Params.Cursor)))
}

// serve is a well-behaved server, from wherever it stands to the end.
func (p *peer) serve() {
	for {
		switch m := p.next(); m.Method {
		case "initialize":
			p.answer(p.hello)
		case "notifications/initialized":
		case "tools/list":
			p.answer(p.page(string(m.Params.Cursor)))
		default:
			p.complain("received %s", m.text)
		}
	}
}

// hang reads and says nothing more.
func (p *peer) hang() {
	for {
		p.next()
	}
}

// stall neither reads nor writes nor ends.
func (p *peer) stall() { select {} }

// at tells the test that waits for it how far the server has come.
func (p *peer) at(stage string) {
	if f, err := os.OpenFile(filepath.Join(p.scratch, "stages"), os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		f.WriteString(stage + "\n")
		f.Close()
	}
}

// spawn starts another scripted server in the background.
func (p *peer) spawn(behaviour string, change func(*exec.Cmd)) {
	cmd := exec.Command("mcp-server", behaviour)
	change(cmd)
	if err := cmd.Start(); err != nil {
		p.complain("spawn: %v", err)
	}
}

// The constructors of the behaviours that differ from a good server in one
// text.

// helloIs answers initialize with that result.
func helloIs(result string) behaviour {
	return func(p *peer) { p.hello = result; p.serve() }
}

// pageIs answers tools/list with that result.
func pageIs(result string) behaviour {
	return pagesAre(func(string) string { return result })
}

func pagesAre(page func(cursor string) string) behaviour {
	return func(p *peer) { p.page = page; p.serve() }
}

// entryIs lists one good tool and then that entry.
func entryIs(entry string) behaviour {
	return pageIs(`{"tools":[` + tool("alpha") + `,` + entry + `]}`)
}

// helloText sends that text, with $ID for the request's id, where the
// answer to initialize should be.
func helloText(text string) behaviour {
	return func(p *peer) {
		p.expect("initialize")
		p.write(strings.ReplaceAll(text, "$ID", p.id))
		p.serve()
	}
}

// listText sends that text where the answer to tools/list should be.
func listText(text string) behaviour {
	return func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		p.write(strings.ReplaceAll(text, "$ID", p.id))
		p.serve()
	}
}

// asks sends one request of the server's, before the listing, and wants that
// reply.
func asks(request, reply string) behaviour {
	return func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		due := p.id
		p.send(request)
		p.expectText(reply)
		p.id = due
		p.answer(catalog("alpha", "beta"))
		p.serve()
	}
}

// rootsAsked asks for the roots that many times and wants each reply.
func rootsAsked(times int, reply string) behaviour {
	return func(p *peer) {
		p.initialize()
		p.expect("tools/list")
		due := p.id
		for i := range times {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":"roots/list"}`, i))
			p.expectText(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d",%s}`, i, reply))
		}
		p.id = due
		p.answer(catalog("alpha", "beta"))
		p.serve()
	}
}

// many are tools that no two of have one name.
func many(n, from int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "tool-" + strconv.Itoa(from+i)
	}
	return names
}

// numbered serves that many pages of that many tools each.
func numbered(pages, tools int) behaviour {
	return pagesAre(func(cursor string) string {
		page := 1
		fmt.Sscanf(cursor, `"c4n4ry-%d"`, &page)
		next := ""
		if page < pages {
			next = fmt.Sprintf(`"c4n4ry-%d"`, page+1)
		}
		return paged(next, many(tools, page*tools)...)
	})
}

// endless writes the same bytes for ever.
func endless(chunk string) {
	for {
		if _, err := io.WriteString(os.Stdout, chunk); err != nil {
			os.Exit(0)
		}
	}
}

// filled makes a text of exactly that many bytes around a filler.
func filled(size int, before, filler, after string) string {
	room := size - len(before) - len(after)
	return before + strings.Repeat(filler, room/len(filler)) + strings.Repeat(" ", room%len(filler)) + after
}
