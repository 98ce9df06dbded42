package discover

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"time"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/mcp"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/proc"
)

const (
	startPoll = 50 * time.Millisecond  // from one request of readiness to the next
	startDial = 500 * time.Millisecond // for one look at the port
)

// serve starts the command that serves the run's URL, observes every session,
// and ends the command's whole process group (CONTRACT.md section 8,
// start-command). The server is ready when the first request of the first
// session is answered with anything that a server that is still starting does
// not say, within the timeout. Where it does not come up, every observation
// says so.
func (r *Run) serve(ctx context.Context, plan []session) ([]observe.Observation, error) {
	all := func(d diagnosis.Diagnosis) []observe.Observation {
		var observations []observe.Observation
		for _, s := range plan {
			d.When |= r.place(s.entry)
			observations = append(observations, observe.Observation{Session: s.Session, Diagnosis: &d})
		}
		return observations
	}
	// Another server on the port would be taken for ours.
	if accepts(ctx, plan[0].entry.Endpoint) {
		return all(diagnosis.Diagnosis{Code: diagnosis.PortTaken, Stage: diagnosis.Start}), ctx.Err()
	}
	process, err := proc.Start(r.command(*r.Target.Start), nil, nil)
	if err != nil {
		return all(diagnosis.Diagnosis{Code: diagnosis.StartFailed, Stage: diagnosis.Start, Detail: mcp.StartDetail(err)}), nil
	}
	defer process.Stop()
	r.gate = &gate{process: process, until: time.Now().Add(r.Timing.Timeout)}
	return r.sessions(ctx, plan)
}

// gate is a server that is starting: the run's first session repeats its first
// request until it is answered.
type gate struct {
	process *proc.Process
	until   time.Time
	status  int // of the last answer that says that it still starts; 0: none
	open    bool
	failed  *diagnosis.Diagnosis // the server did not come up
}

// wait judges the answer to a first request and reports whether it is to be
// repeated. Only the run's first session comes here while the gate is closed.
// An answer that does not come within the time is none.
func (g *gate) wait(ctx context.Context, f *mcp.Fault) (again bool) {
	late := f != nil && f.Code == diagnosis.Timeout
	if !late && !isStarting(f) {
		g.open = true
		return false
	}
	if !late {
		g.status = cmp.Or(f.Detail.HTTPStatus, g.status)
		select {
		case <-time.After(startPoll):
		case <-ctx.Done():
		}
	}
	switch {
	case g.process.Ended():
		g.failed = &diagnosis.Diagnosis{Code: diagnosis.StartFailed, Stage: diagnosis.Start, Detail: mcp.EndDetail(g.process)}
	case late, ctx.Err() != nil, !time.Now().Before(g.until):
		g.failed = &diagnosis.Diagnosis{Code: diagnosis.StartTimeout, Stage: diagnosis.Start, Detail: diagnosis.Detail{HTTPStatus: g.status}}
	}
	return g.failed == nil
}

// isStarting reports whether a fault is what a server that is still starting,
// or a proxy before it, says.
func isStarting(f *mcp.Fault) bool {
	if f == nil {
		return false
	}
	switch f.Code {
	case diagnosis.ConnectionRefused, diagnosis.TransportClosed:
		return true
	case diagnosis.HTTPStatus:
		switch f.Detail.HTTPStatus {
		case http.StatusNotFound, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
	}
	return false
}

// accepts reports whether the endpoint's port accepts a connection on a
// loopback address: what a rebound localhost names is not asked.
func accepts(ctx context.Context, e *options.Endpoint) bool {
	port := e.URL.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[e.URL.Scheme]
	}
	dialer := net.Dialer{Timeout: startDial, ControlContext: mcp.LoopbackOnly}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(e.URL.Hostname(), port))
	if err != nil {
		return false
	}
	connection.Close()
	return true
}
