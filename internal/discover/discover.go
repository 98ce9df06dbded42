// Package discover observes a server: a fresh connection for each session, its
// instructions and its whole catalog. It must never judge what it observes,
// beyond whether the observation is complete and seen twice alike.
//
// This page is the schedule (CONTRACT.md section 4.5); session.go is one
// session, start.go the server that a start-command brings up.
package discover

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/org/mcpeval-guidance/internal/crash"
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/proc"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/reference"
)

// sideBySide is how many sessions of a command run at the same time where
// --jobs was not given.
const sideBySide = 5

// Run is one run of discovery.
type Run struct {
	Target    options.Target
	Timing    options.Timing
	Protocols []protocol.Version // ascending, at least one
	Profiles  []profile.Profile  // in profile order, at least one
	Texts     *reference.Extractor
	Tools     bool       // the texts and schemas of tools are read, too
	Version   string     // of mcpeval, for clientInfo
	Stderr    io.Writer  // where a server's stderr goes; nil drops it
	User      *proc.User // whom a server runs as; nil: as we do
	// InContainer says that we run in the Action's image, where localhost is
	// not the runner.
	InContainer bool
	// Affected says which sessions findings would be about, were these the
	// observations that count: no finding rests on one look.
	Affected func([]observe.Observation) observe.Set
	// Progress, if set, is told when a session begins (nil) and ends. Calls
	// do not overlap.
	Progress func(observe.Session, *observe.Observation)
	// Sweep, if set, ends what servers left running outside their process
	// group. It is called only while no session of a command is observed,
	// before one that must be alone.
	Sweep func()

	telling sync.Mutex
	looks   [][]look // by session, in the order of their beginnings
	gate    *gate    // the start-command's server; nil without one
	first   bool     // a session has begun: later starts find a warm cache
}

// session is one row of the plan.
type session struct {
	observe.Session
	entry options.Entry
}

// look is one observation of a session, and when it was made.
type look struct {
	observe.Observation
	began, ended time.Time
	beside       bool // another look was made at the same time
	earliest     bool // of the run: a first start may list less than every later one
}

// same reports whether two complete looks saw the same.
func (l look) same(other look) bool {
	return slices.Equal(l.Tools, other.Tools) && l.HasInstructions == other.HasInstructions &&
		l.Texts.Same(other.Texts)
}

// plan returns the sessions in the run's order: entries as given, protocols
// ascending, profiles in profile order.
func (r *Run) plan() []session {
	var plan []session
	for _, entry := range r.Target.Entries {
		for _, version := range r.Protocols {
			for _, p := range r.Profiles {
				plan = append(plan, session{observe.Session{Entry: entry.Label, Protocol: version, Profile: p}, entry})
			}
		}
	}
	return plan
}

// Observe observes every session and returns the observations that count, in
// the run's order. When it returns, nothing that it started is running. The
// error is ctx's, when that ended the run.
func (r *Run) Observe(ctx context.Context) ([]observe.Observation, error) {
	plan := r.plan()
	if r.Target.Start != nil {
		return r.serve(ctx, plan)
	}
	return r.sessions(ctx, plan)
}

// sessions observes the plan.
func (r *Run) sessions(ctx context.Context, plan []session) ([]observe.Observation, error) {
	r.looks = make([][]look, len(plan))
	if r.round(ctx, plan); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.markNeighbours()

	// Side by side was our choice: what it may have broken is done again,
	// alone, and that result counts.
	for i, s := range plan {
		if last := r.last(i); last.Diagnosis != nil && last.beside && mayBeCrowding(last.Diagnosis) && ctx.Err() == nil {
			r.alone(ctx, i, s)
		}
	}
	if r.confirm(ctx, plan); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	observations := make([]observe.Observation, len(plan))
	for i := range plan {
		last := r.last(i)
		if last.Diagnosis != nil && last.beside {
			last.Diagnosis.When |= diagnosis.Beside
		}
		observations[i] = last.Observation
	}
	return observations, nil
}

// Looks returns how many sessions were observed in all, those seen again
// included.
func (r *Run) Looks() (n int) {
	for _, looks := range r.looks {
		n += len(looks)
	}
	return n
}

// round observes every session once. The first session of each entry of a
// command starts by itself, since it may install the server's package and warm
// its cache; when it has answered its first request, the next one does, and
// then the rest start together. A URL is one server: its sessions are observed
// one after another, unless --jobs says otherwise.
func (r *Run) round(ctx context.Context, plan []session) {
	var firsts, rest, inTurn []int
	for i, s := range plan {
		switch {
		case r.Timing.Jobs == 1 || r.Timing.Jobs == 0 && s.entry.Endpoint != nil:
			inTurn = append(inTurn, i)
		case i == 0 || plan[i-1].entry.Label != s.entry.Label:
			firsts = append(firsts, i)
		default:
			rest = append(rest, i)
		}
	}
	g := &group{slots: make(chan struct{}, max(r.Timing.Jobs, 1))}
	if r.Timing.Jobs == 0 {
		g.slots = make(chan struct{}, sideBySide)
	}
	for _, i := range firsts {
		if ctx.Err() != nil {
			break
		}
		answered := make(chan struct{})
		tell := sync.OnceFunc(func() { close(answered) })
		g.run(func() {
			defer tell()
			r.look(ctx, i, plan[i], tell)
		})
		<-answered
	}
	for _, i := range rest {
		if ctx.Err() == nil {
			g.run(func() { r.look(ctx, i, plan[i], func() {}) })
		}
	}
	if len(inTurn) > 0 {
		g.run(func() {
			for _, i := range inTurn {
				if ctx.Err() == nil {
					r.look(ctx, i, plan[i], func() {})
					if r.Timing.Jobs == 1 {
						r.sweep()
					}
				}
			}
		})
	}
	g.wait()
}

// confirm looks again, alone, where findings rest on what was seen: no finding
// rests on one look. Where a second look differs, every session is observed
// again, one after another, and that round counts.
func (r *Run) confirm(ctx context.Context, plan []session) {
	changed := false
	for _, i := range r.doubtful() {
		before := r.last(i)
		if r.alone(ctx, i, plan[i]); ctx.Err() != nil {
			return
		}
		changed = changed || r.last(i).Diagnosis != nil || !r.last(i).same(before)
	}
	if !changed {
		return
	}
	for i, s := range plan {
		earlier := slices.Clone(r.looks[i])
		if r.alone(ctx, i, s); ctx.Err() != nil {
			return
		}
		now := &r.looks[i][len(r.looks[i])-1]
		for _, before := range earlier {
			if now.Diagnosis == nil && before.Diagnosis == nil && !before.beside && !before.earliest && !now.same(before) {
				now.Observation = incomplete(now.Observation, diagnosis.Diagnosis{Code: diagnosis.CatalogUnstable, Stage: diagnosis.ToolsList, When: r.place(s.entry)})
			}
		}
	}
}

// doubtful returns the sessions whose look must be confirmed before a finding
// may rest on it: the run's first start where a finding affects it, unless it
// has been seen again, and the first other affected one that ran beside others.
func (r *Run) doubtful() []int {
	observations := make([]observe.Observation, len(r.looks))
	for i := range r.looks {
		observations[i] = r.last(i).Observation
	}
	var earliest, crowded []int
	for i := range r.Affected(observations).All() {
		switch last := r.last(i); {
		case last.earliest:
			earliest = []int{i}
		case last.beside && crowded == nil:
			crowded = []int{i}
		}
	}
	return slices.Concat(earliest, crowded)
}

// last is the look that counts.
func (r *Run) last(i int) look { return r.looks[i][len(r.looks[i])-1] }

// alone observes one session while no other is observed and each server before
// it is gone.
func (r *Run) alone(ctx context.Context, i int, s session) {
	r.sweep()
	r.look(ctx, i, s, func() {})
}

// look observes one session and keeps what it saw.
func (r *Run) look(ctx context.Context, i int, s session, answered func()) {
	r.tell(ctx, s.Session, nil)
	r.telling.Lock()
	l := look{began: time.Now(), earliest: !r.first}
	r.first = true
	r.telling.Unlock()
	r.observe(ctx, s, &l, answered)
	l.ended = time.Now()
	r.telling.Lock()
	r.looks[i] = append(r.looks[i], l)
	r.telling.Unlock()
	r.tell(ctx, s.Session, &l.Observation)
}

// markNeighbours reads off the looks' times which were made side by side.
func (r *Run) markNeighbours() {
	for i := range r.looks {
		for j := range r.looks {
			for a := range r.looks[i] {
				for b := range r.looks[j] {
					if i != j && r.looks[i][a].began.Before(r.looks[j][b].ended) && r.looks[j][b].began.Before(r.looks[i][a].ended) {
						r.looks[i][a].beside = true
					}
				}
			}
		}
	}
}

// sweep makes sure that each server is gone before the next one starts. What a
// start-command has started lives on.
func (r *Run) sweep() {
	if r.Sweep != nil && slices.ContainsFunc(r.Target.Entries, func(e options.Entry) bool { return e.Launch != nil }) {
		r.Sweep()
	}
}

// mayBeCrowding reports whether a session may have failed only because others
// ran beside it: it lost its transport or was refused.
func mayBeCrowding(d *diagnosis.Diagnosis) bool {
	switch d.Code {
	case diagnosis.TransportClosed, diagnosis.ConnectionRefused, diagnosis.InitializeError, diagnosis.HTTPStatus:
		return true
	case diagnosis.CatalogError:
		return d.Detail.IsErrorAnswer()
	}
	// In a stateless version any error answer to discover is a refusal.
	return d.Stage == diagnosis.Discover && d.Detail.IsErrorAnswer()
}

// tell reports progress, one call at a time.
func (r *Run) tell(ctx context.Context, s observe.Session, o *observe.Observation) {
	r.telling.Lock()
	defer r.telling.Unlock()
	if r.Progress != nil && ctx.Err() == nil {
		r.Progress(s, o)
	}
}

// group runs functions side by side, as many as it has slots.
type group struct {
	slots   chan struct{}
	running sync.WaitGroup
	mu      sync.Mutex
	crash   *crash.Crash
}

// run waits for a slot and runs f beside its caller.
func (g *group) run(f func()) {
	g.slots <- struct{}{}
	g.running.Go(func() {
		defer func() {
			if c := crash.Recovered(recover()); c != nil {
				g.mu.Lock()
				g.crash = c
				g.mu.Unlock()
			}
			<-g.slots
		}()
		f()
	})
}

// wait waits for all. A panic in one of them goes on here, where the front end
// can still say so.
func (g *group) wait() {
	g.running.Wait()
	if g.crash != nil {
		panic(g.crash)
	}
}
