// Package mcp is a strict MCP client for observation. It speaks protocol
// versions exactly as they are, over stdio and Streamable HTTP, sends nothing
// but the first request, notifications/initialized and tools/list, and judges
// every answer. It must never call a tool, repair a malformed message, or let a
// word of the server out: what leaves is names, instructions for the
// comparison, and faults with fixed codes.
package mcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/protocol"
)

// Bounds of one session (CONTRACT.md section 4.4).
const (
	maxFrame = 8 << 20  // bytes of one message or body: far above any real page, far below a runner's memory
	maxTotal = 64 << 20 // bytes received in all, noise included
)

// Client is what a session says of itself.
type Client struct {
	Version       string           // of mcpeval, for clientInfo
	Protocol      protocol.Version // spoken exactly
	Capabilities  string           // JSON object
	DeclaresRoots bool             // roots/list will be answered
}

// info is the client's clientInfo.
func (c Client) info() string {
	version, _ := json.Marshal(c.Version)
	return `{"name":"mcpeval","version":` + string(version) + `}`
}

// era is what the protocol versions of one generation have in common: how a
// session begins, what it asks with, and what an error answer means. There are
// two: handshake and stateless.
type era interface {
	// helloStage is the stage of the first request.
	helloStage() diagnosis.Stage
	// hello sends the first request and judges its answer.
	hello(ctx context.Context, s *Session) (Hello, *Fault)
	// ready says that the answer was understood.
	ready(ctx context.Context, s *Session) *Fault
	// pageParams is the params object of tools/list.
	pageParams(cursor *Cursor) string
	// page judges the answer to tools/list but for its entries. It returns
	// the next page's cursor as it came, nil on the last page.
	page(m message) (tools, cursor []byte, _ *Fault)
}

func eraOf(client Client) era {
	if client.Protocol.Stateless() {
		return stateless{client}
	}
	return handshake{client}
}

// transport moves messages. It has two implementations: stdio and HTTP.
type transport interface {
	// call sends a request and reads until its response is there, answering
	// the server's requests meanwhile. The message is valid until the next
	// call.
	call(ctx context.Context, request []byte) (message, *Fault)
	// notify sends a notification.
	notify(ctx context.Context, notification []byte) *Fault
	// idle answers the server's requests for the given time.
	idle(ctx context.Context, d time.Duration) *Fault
	// noise says what was received beside messages.
	strayLines() (lines int, broken bool)
	// close ends the session and waits until nothing of it is left.
	close()
}

// Session is one connection to a server, from the first request to the end.
type Session struct {
	transport
	*exchange
	era era
}

func newSession(t transport, x *exchange, client Client) *Session {
	return &Session{transport: t, exchange: x, era: eraOf(client)}
}

// Hello is what the answer to the first request says, as far as discovery
// needs it.
type Hello struct {
	HasTools     bool    // the tools capability is declared
	Instructions *string // nil when absent
}

// HelloStage is the stage of the first request: initialize, or discover.
func (s *Session) HelloStage() diagnosis.Stage { return s.era.helloStage() }

// Hello sends the first request and judges its answer (CONTRACT.md sections
// 4.3 and 4.8).
func (s *Session) Hello(ctx context.Context) (Hello, *Fault) { return s.era.hello(ctx, s) }

// Ready sends notifications/initialized where the protocol version has it.
func (s *Session) Ready(ctx context.Context) *Fault { return s.era.ready(ctx, s) }

// Idle waits for the given time, in which the server's requests are answered.
func (s *Session) Idle(ctx context.Context, d time.Duration) *Fault { return s.idle(ctx, d) }

// ListTools asks for one page, the first when cursor is nil, and calls tool
// with each entry in order; a fault that tool returns ends the page. page is
// the page's number, from 1, for what faults say. It returns the cursor of the
// next page, nil when there is none.
func (s *Session) ListTools(ctx context.Context, cursor *Cursor, page int, tool func(Tool) *Fault) (*Cursor, *Fault) {
	m, f := s.call(ctx, s.begin("tools/list", s.era.pageParams(cursor)))
	if f != nil {
		return nil, f
	}
	next, f := s.readPage(m, tool)
	if f != nil && f.Detail.Page == 0 {
		f.Detail.Page = page
	}
	return next, f
}

// ServerRequests returns how many requests of the server have arrived.
func (s *Session) ServerRequests() int { return s.requests }

// Noise returns how many lines came on stdout that were no messages, and
// whether some looked like a message broken over lines.
func (s *Session) Noise() (lines int, broken bool) { return s.transport.strayLines() }

// Close ends the session. When it returns, nothing that the session started
// is left running.
func (s *Session) Close() { s.transport.close() }

// contextFault is the fault for a context that ended: the caller tells an
// interrupt from a timeout by its own context.
func contextFault() *Fault { return fault(diagnosis.Timeout) }

// meter counts received bytes against maxTotal.
type meter struct{ left int }

func newMeter() *meter { return &meter{left: maxTotal} }

// take counts n bytes and reports whether they were within the bound.
func (m *meter) take(n int) bool {
	m.left -= n
	return m.left >= 0
}
