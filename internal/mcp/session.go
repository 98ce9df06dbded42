// Package mcp is a strict MCP client for observation. It speaks protocol
// version 2025-06-18 over stdio and Streamable HTTP, sends nothing but
// initialize, notifications/initialized and tools/list, and judges every
// answer. It must never call a tool, repair a malformed message, or let a
// word of the server out: what leaves is names, instructions for the
// comparison, and faults with fixed codes.
package mcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
)

// Bounds of one session (CONTRACT.md section 4.4).
const (
	maxFrame = 8 << 20  // bytes of one message or body: far above any real page, far below a runner's memory
	maxTotal = 64 << 20 // bytes received in all, noise included
)

// Client is what a session says of itself in initialize.
type Client struct {
	Version       string // of mcpeval, for clientInfo
	Capabilities  string // JSON object
	DeclaresRoots bool   // roots/list will be answered
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

// Session is one connection to a server, from initialize to the end.
type Session struct {
	transport
	*exchange
	client Client
}

// Initialize sends initialize and judges its answer.
func (s *Session) Initialize(ctx context.Context) (Initialized, *Fault) {
	name, _ := json.Marshal(s.client.Version)
	m, err := s.call(ctx, s.begin("initialize", `{"protocolVersion":"`+Version+`","capabilities":`+s.client.Capabilities+
		`,"clientInfo":{"name":"mcpeval","version":`+string(name)+`}}`))
	if err != nil {
		return Initialized{}, err
	}
	return readInitialized(m)
}

// Initialized sends notifications/initialized.
func (s *Session) Initialized(ctx context.Context) *Fault {
	return s.notify(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
}

// Idle waits for the given time, in which the server's requests are answered.
func (s *Session) Idle(ctx context.Context, d time.Duration) *Fault { return s.idle(ctx, d) }

// ListTools asks for one page, the first when cursor is nil, and calls tool
// with each name in order; a fault that tool returns ends the page. It
// returns the cursor of the next page, nil when there is none.
func (s *Session) ListTools(ctx context.Context, cursor *Cursor, tool func(name string) *Fault) (*Cursor, *Fault) {
	params := "{}"
	if cursor != nil {
		params = `{"cursor":` + cursor.token + `}`
	}
	m, err := s.call(ctx, s.begin("tools/list", params))
	if err != nil {
		return nil, err
	}
	return readPage(m, tool)
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
