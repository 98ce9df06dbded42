package discover

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/mcp"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/proc"
	"github.com/org/mcpeval-guidance/internal/reference"
	"github.com/org/mcpeval-guidance/internal/strictjson"
)

// Bounds of a catalog (CONTRACT.md section 4.3).
const (
	maxPages = 20
	maxTools = 10000
)

// observe discovers one session over a connection of its own. It calls
// answered when the first request has been answered as it should.
func (r *Run) observe(ctx context.Context, s session, l *look, answered func()) {
	l.Observation = observe.Observation{Session: s.Session}
	fail := func(f *mcp.Fault, stage diagnosis.Stage) {
		l.Observation = incomplete(l.Observation, diagnosis.Diagnosis{Code: f.Code, Stage: stage, When: f.When | r.place(s.entry), Detail: f.Detail})
	}
	if r.gate != nil && r.gate.failed != nil {
		l.Observation = incomplete(l.Observation, *r.gate.failed)
		return
	}
	timeout := time.Now().Add(r.Timing.Timeout)
	connection, f := r.open(s)
	if f != nil {
		fail(f, diagnosis.Start)
		return
	}
	defer func() { connection.Close() }()
	hello, f := r.hello(ctx, connection, timeout)
	if r.gate != nil && !r.gate.open {
		for r.gate.wait(ctx, f) {
			connection.Close()
			connection, _ = r.open(s) // a URL's connection is made with its first request
			// The time for the start is the start-command's; the session's own
			// begins with the request that is answered.
			timeout = time.Now().Add(r.Timing.Timeout)
			hello, f = r.hello(ctx, connection, r.gate.until)
		}
		if r.gate.failed != nil {
			r.gate.failed.When |= r.place(s.entry)
			l.Observation = incomplete(l.Observation, *r.gate.failed)
			return
		}
	}
	stage := connection.HelloStage()
	if f == nil {
		answered()
		stage, f = r.exchange(ctx, connection, hello, l, timeout)
	}
	lines, broken := connection.Noise()
	l.Noise = lines
	if f == nil {
		return
	}
	if f.Code == diagnosis.Timeout {
		if lines > 0 {
			f.When |= diagnosis.Noise
		}
		if broken {
			f.When |= diagnosis.BrokenLines
		}
		if stage == diagnosis.ToolsList && s.entry.Endpoint != nil && s.Profile.DeclaresRoots() && connection.ServerRequests() == 0 {
			f.When |= diagnosis.StandingStream
		}
	}
	fail(f, stage)
}

// incomplete is the observation with a diagnosis in place of what was seen.
func incomplete(o observe.Observation, d diagnosis.Diagnosis) observe.Observation {
	return observe.Observation{Session: o.Session, Noise: o.Noise, Diagnosis: &d}
}

// hello sends the first request.
func (r *Run) hello(ctx context.Context, connection *mcp.Session, timeout time.Time) (mcp.Hello, *mcp.Fault) {
	timed, cancel := context.WithDeadline(ctx, timeout)
	defer cancel()
	return connection.Hello(timed)
}

// exchange goes through the stages after the first and fills the look in. The
// settle window does not count against the timeout.
func (r *Run) exchange(ctx context.Context, connection *mcp.Session, hello mcp.Hello, l *look, timeout time.Time) (diagnosis.Stage, *mcp.Fault) {
	timed, cancel := context.WithDeadline(ctx, timeout)
	defer cancel()
	texts := &reference.Texts{}
	if hello.Instructions != nil {
		l.HasInstructions, l.Characters = true, utf8.RuneCountInString(*hello.Instructions)
		texts.Instructions = r.Texts.Text(*hello.Instructions)
		hello.Instructions = nil // the text is not kept
	}
	if f := connection.Ready(timed); f != nil {
		return diagnosis.Settle, f
	}
	if !hello.HasTools {
		l.Tools, l.NoTools, l.Texts = []name.Name{}, true, texts
		return "", nil
	}
	// The window adds its own length and no more: a server that asks without
	// reading the replies would hold us in it.
	timed, cancel = context.WithDeadline(ctx, timeout.Add(r.Timing.Settle))
	defer cancel()
	if f := connection.Idle(timed, r.Timing.Settle); f != nil {
		return diagnosis.Settle, f
	}
	said := map[name.Name]*reference.Tool{}
	tools, f := catalog(timed, connection, func(tool name.Name, entry []byte) {
		if r.Tools {
			said[tool] = r.tool(entry)
		}
	})
	if f != nil {
		return diagnosis.ToolsList, f
	}
	// In the order of names: a server may list its catalog in another order
	// each time, and two such looks are the same.
	for _, tool := range tools {
		if r.Tools {
			texts.Add(tool, said[tool])
		}
	}
	l.Tools, l.Texts = tools, texts
	return "", nil
}

// tool reads the texts of a catalog entry.
func (r *Run) tool(entry []byte) *reference.Tool {
	var description, schema []byte
	strictjson.Members(entry, func(key string, value []byte) bool {
		switch key {
		case "description":
			description = value
		case "inputSchema":
			schema = value
		}
		return true
	})
	return r.Texts.Tool(description, schema)
}

// catalog reads all pages (MCP 2025-06-18, server/utilities/pagination) and
// passes each tool's own texts on.
func catalog(ctx context.Context, connection *mcp.Session, texts func(tool name.Name, entry []byte)) ([]name.Name, *mcp.Fault) {
	tools := []name.Name{}
	known := map[name.Name]bool{}
	page := 1
	add := func(tool mcp.Tool) *mcp.Fault {
		at := diagnosis.Detail{Page: page, Entry: tool.Index, Tool: tool.Name}
		switch {
		case known[tool.Name]:
			return &mcp.Fault{Code: diagnosis.ToolDuplicate, Detail: at}
		case len(tools) == maxTools:
			return &mcp.Fault{Code: diagnosis.ToolLimit}
		}
		known[tool.Name] = true
		tools = append(tools, tool.Name)
		texts(tool.Name, tool.Entry)
		return nil
	}
	cursors := map[[32]byte]bool{}
	var cursor *mcp.Cursor
	for ; ; page++ {
		next, f := connection.ListTools(ctx, cursor, page, add)
		switch {
		case f != nil:
			return nil, f
		case next == nil:
			slices.Sort(tools)
			return tools, nil
		case cursors[next.Sum]:
			return nil, &mcp.Fault{Code: diagnosis.CursorRepeated, Detail: diagnosis.Detail{Page: page}}
		case page == maxPages:
			return nil, &mcp.Fault{Code: diagnosis.PageLimit}
		}
		cursors[next.Sum] = true
		cursor = next
	}
}

func (r *Run) open(s session) (*mcp.Session, *mcp.Fault) {
	client := mcp.Client{
		Version: r.Version, Protocol: s.Protocol,
		Capabilities: s.Profile.Capabilities(s.Protocol.Stateless()), DeclaresRoots: s.Profile.DeclaresRoots(),
	}
	if e := s.entry.Endpoint; e != nil {
		header := http.Header{}
		for _, h := range e.Headers {
			header[h.Name] = []string{h.Value.Reveal()}
		}
		return mcp.OpenHTTP(mcp.Endpoint{URL: e.URL, Loopback: e.Loopback, Header: header}, client), nil
	}
	return mcp.OpenStdio(r.command(*s.entry.Launch), client)
}

func (r *Run) command(l options.Launch) proc.Command {
	return proc.Command{Args: l.Args, Dir: l.Dir, Env: l.Env, User: r.User, Stderr: r.Stderr}
}

// place is what makes advice specific to where we run and to what was started.
func (r *Run) place(entry options.Entry) (when diagnosis.Circumstance) {
	if r.InContainer {
		when |= diagnosis.InContainer
	}
	switch {
	case entry.Endpoint == nil:
		if filepath.Base(entry.Launch.Args[0]) == "npx" {
			when |= diagnosis.Npx
		}
		return when
	case entry.Endpoint.Loopback:
		when |= diagnosis.Loopback
	}
	return when | diagnosis.OverHTTP
}
