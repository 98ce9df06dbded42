// Package discover observes a server: a fresh connection for each profile,
// its instructions and its whole catalog. It must never judge what it
// observes, beyond whether the observation is complete.
package discover

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/org/mcpeval-guidance/internal/coherence"
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/mcp"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/proc"
	"github.com/org/mcpeval-guidance/internal/profile"
)

// Bounds of a catalog (CONTRACT.md section 4.3).
const (
	maxPages = 20
	maxTools = 10000
)

// Run is one run of discovery.
type Run struct {
	Options options.Options
	Version string    // of mcpeval, for clientInfo
	Stderr  io.Writer // where a server's stderr goes; nil drops it
	// InContainer says that we run in the Action's image, where localhost is
	// not the runner.
	InContainer bool
	// Progress, if set, is told when a profile begins (nil) and ends. Calls
	// do not overlap.
	Progress func(profile.Profile, *coherence.Observation)
	// Sweep, if set, ends what servers left running outside their process
	// group (see Adopt). It is called only while no profile of a stdio server
	// is being discovered, before one that must be alone.
	Sweep func()
	User  *proc.User

	telling sync.Mutex
}

// Profiles discovers every selected profile and returns the observations in
// profile order. When it returns, nothing that it started is running. The
// error is ctx's, when that ended the run.
//
// The first profile starts alone, since it may install the server's package
// and warm its cache; when it has answered initialize, the others start
// together, as many as Jobs allows (CONTRACT.md section 4.5).
func (r *Run) Profiles(ctx context.Context) ([]coherence.Observation, error) {
	profiles := r.Options.Profiles
	results := make([]coherence.Observation, len(profiles))
	beside := make([]bool, len(profiles))
	crowd := newCrowd()
	one := func(i int, answered func()) {
		r.tell(ctx, profiles[i], nil)
		leave := crowd.enter()
		results[i] = r.observe(ctx, profiles[i], answered)
		beside[i] = leave() || beside[i]
		if r.Options.Jobs == 1 {
			r.sweep()
		}
		r.tell(ctx, profiles[i], &results[i])
	}

	slots := make(chan struct{}, r.Options.Jobs)
	panicked := make(chan any, len(profiles))
	var running sync.WaitGroup
	launch := func(i int, answered func()) {
		slots <- struct{}{}
		running.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					panicked <- p
				}
				answered()
				<-slots
			}()
			one(i, answered)
		})
	}
	warm := make(chan struct{})
	launch(0, sync.OnceFunc(func() { close(warm) }))
	<-warm
	for i := 1; i < len(profiles) && ctx.Err() == nil; i++ {
		launch(i, func() {})
	}
	running.Wait()
	select {
	case p := <-panicked:
		panic(p) // where the front end can still say so
	default:
	}

	// Side by side was our choice: what it may have broken is done again,
	// alone, and that result counts.
	for i := range results {
		if d := results[i].Diagnosis; d != nil && beside[i] && mayBeCrowding(d.Code) && ctx.Err() == nil {
			r.sweep()
			one(i, func() {})
		}
		if d := results[i].Diagnosis; d != nil && beside[i] {
			d.When |= diagnosis.Beside
		}
	}
	return results, ctx.Err()
}

// sweep makes sure that each server is gone before the next one starts. A
// server behind a URL, which start-command may have started, lives on.
func (r *Run) sweep() {
	if r.Sweep != nil && r.Options.Endpoint == nil {
		r.Sweep()
	}
}

// mayBeCrowding reports whether a profile may have failed only because others
// ran beside it: it lost its transport or was refused.
func mayBeCrowding(code diagnosis.Code) bool {
	switch code {
	case diagnosis.TransportClosed, diagnosis.ConnectionRefused, diagnosis.InitializeError, diagnosis.HTTPStatus:
		return true
	}
	return false
}

// tell reports progress, one call at a time.
func (r *Run) tell(ctx context.Context, p profile.Profile, o *coherence.Observation) {
	r.telling.Lock()
	defer r.telling.Unlock()
	if r.Progress != nil && ctx.Err() == nil {
		r.Progress(p, o)
	}
}

// crowd knows who ran while others did.
type crowd struct {
	mu     sync.Mutex
	inside map[*bool]bool // each one's mark: set when another is there too
}

func newCrowd() *crowd { return &crowd{inside: map[*bool]bool{}} }

// enter returns leave, which reports whether another was inside meanwhile.
func (c *crowd) enter() (leave func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mark := new(bool)
	for other := range c.inside {
		*mark, *other = true, true
	}
	c.inside[mark] = true
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.inside, mark)
		return *mark
	}
}

// observe discovers one profile over a connection of its own. It calls
// answered when initialize has been answered as it should.
func (r *Run) observe(ctx context.Context, p profile.Profile, answered func()) coherence.Observation {
	o := coherence.Observation{Profile: p}
	incomplete := func(f *mcp.Fault, stage diagnosis.Stage) coherence.Observation {
		o.Tools, o.Instructions, o.NoTools = nil, nil, false
		o.Diagnosis = &diagnosis.Diagnosis{Code: f.Code, Stage: stage, When: f.When | r.place()}
		return o
	}
	timeout := time.Now().Add(r.Options.Timeout)
	session, f := r.open(p)
	if f != nil {
		return incomplete(f, diagnosis.Start)
	}
	defer session.Close()
	stage, f := r.exchange(ctx, session, &o, timeout, answered)
	lines, broken := session.Noise()
	o.Noise = lines
	if f == nil {
		return o
	}
	if f.Code == diagnosis.Timeout {
		if lines > 0 {
			f.When |= diagnosis.Noise
		}
		if broken {
			f.When |= diagnosis.BrokenLines
		}
		if stage != diagnosis.Initialize && r.Options.Endpoint != nil && p.DeclaresRoots() && session.ServerRequests() == 0 {
			f.When |= diagnosis.StandingStream
		}
	}
	return incomplete(f, stage)
}

// exchange goes through the stages and fills o in. The settle window does not
// count against the timeout.
func (r *Run) exchange(ctx context.Context, session *mcp.Session, o *coherence.Observation, timeout time.Time, answered func()) (diagnosis.Stage, *mcp.Fault) {
	timed, cancel := context.WithDeadline(ctx, timeout)
	defer cancel()
	hello, f := session.Initialize(timed)
	if f != nil {
		return diagnosis.Initialize, f
	}
	answered()
	o.Instructions = hello.Instructions
	if f := session.Initialized(timed); f != nil {
		return diagnosis.Settle, f
	}
	if !hello.HasTools {
		o.Tools, o.NoTools = []string{}, true
		return "", nil
	}
	// The window adds its own length and no more: a server that asks without
	// reading the replies would hold us in it.
	timed, cancel = context.WithDeadline(ctx, timeout.Add(r.Options.Settle))
	defer cancel()
	if f := session.Idle(timed, r.Options.Settle); f != nil {
		return diagnosis.Settle, f
	}
	tools, f := catalog(timed, session)
	if f != nil {
		return diagnosis.ToolsList, f
	}
	o.Tools = tools
	return "", nil
}

// catalog reads all pages (MCP 2025-06-18, server/utilities/pagination).
func catalog(ctx context.Context, session *mcp.Session) ([]string, *mcp.Fault) {
	tools := []string{}
	known := map[string]bool{}
	add := func(name string) *mcp.Fault {
		switch {
		case !options.ValidName(name):
			return &mcp.Fault{Code: diagnosis.EntryMalformed}
		case known[name]:
			return &mcp.Fault{Code: diagnosis.ToolDuplicate}
		case len(tools) == maxTools:
			return &mcp.Fault{Code: diagnosis.ToolLimit}
		}
		known[name] = true
		tools = append(tools, name)
		return nil
	}
	cursors := map[[32]byte]bool{}
	var cursor *mcp.Cursor
	for page := 1; ; page++ {
		next, f := session.ListTools(ctx, cursor, add)
		switch {
		case f != nil:
			return nil, f
		case next == nil:
			slices.Sort(tools)
			return tools, nil
		case cursors[next.Sum]:
			return nil, &mcp.Fault{Code: diagnosis.CursorRepeated}
		case page == maxPages:
			return nil, &mcp.Fault{Code: diagnosis.PageLimit}
		}
		cursors[next.Sum] = true
		cursor = next
	}
}

func (r *Run) open(p profile.Profile) (*mcp.Session, *mcp.Fault) {
	client := mcp.Client{Version: r.Version, Capabilities: p.Capabilities(), DeclaresRoots: p.DeclaresRoots()}
	if o := r.Options; o.Endpoint != nil {
		return mcp.OpenHTTP(mcp.Endpoint{URL: o.Endpoint, Loopback: o.Loopback, Authorization: o.Authorization}, client), nil
	}
	return mcp.OpenStdio(r.command(r.Options.Command), client)
}

func (r *Run) command(words []string) proc.Command {
	return proc.Command{Args: words, Dir: r.Options.Dir, Env: r.Options.Environ, User: r.User, Stderr: r.Stderr}
}

// place is what makes advice specific to where we run.
func (r *Run) place() (when diagnosis.Circumstance) {
	if r.InContainer {
		when |= diagnosis.InContainer
	}
	if r.Options.Endpoint != nil {
		when |= diagnosis.OverHTTP
	}
	if r.Options.Loopback {
		when |= diagnosis.Loopback
	}
	return when
}

// Adopt prepares this process for servers whose descendants leave their
// process group, and returns what ends those at the end of the run. It is
// for a process that does nothing else.
func Adopt() (sweep func() (left int)) { return proc.Adopt() }
