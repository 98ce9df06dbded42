package discover

import (
	"context"
	"net"
	"time"

	"github.com/org/mcpeval-guidance/internal/coherence"
	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/proc"
)

const (
	startPoll = 50 * time.Millisecond  // from one look at the port to the next
	startDial = 500 * time.Millisecond // for one look
)

// StartServer starts a command that serves the endpoint and waits until its
// port accepts a connection, for as long as a profile may take. stop ends its
// whole process group. Where the server does not come up, the observations
// say so for every profile, and there is nothing to stop. The error is ctx's,
// when that ended the wait.
func (r *Run) StartServer(ctx context.Context, start options.Launch) (stop func(), failed []coherence.Observation, _ error) {
	fail := func(code diagnosis.Code) []coherence.Observation {
		for _, p := range r.Options.Profiles {
			failed = append(failed, coherence.Observation{
				Profile:   p,
				Diagnosis: &diagnosis.Diagnosis{Code: code, Stage: diagnosis.Start, When: r.place()},
			})
		}
		return failed
	}
	// Another server on the port would be taken for ours.
	if r.accepts(ctx) {
		return nil, fail(diagnosis.PortTaken), nil
	}
	process, err := proc.Start(r.command(start), nil, nil)
	if err != nil {
		return nil, fail(diagnosis.StartFailed), nil
	}
	timeout := time.NewTimer(r.Options.Timing.Timeout)
	defer timeout.Stop()
	for {
		if r.accepts(ctx) {
			return process.Stop, nil, nil
		}
		code := diagnosis.StartTimeout
		select {
		case <-time.After(startPoll):
			if !process.Ended() {
				continue
			}
			code = diagnosis.StartFailed
		case <-timeout.C:
		case <-ctx.Done():
		}
		process.Stop()
		return nil, fail(code), ctx.Err()
	}
}

// accepts reports whether the endpoint's port accepts a connection.
func (r *Run) accepts(ctx context.Context) bool {
	u := r.entry().Endpoint.URL
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	dialer := net.Dialer{Timeout: startDial}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return false
	}
	connection.Close()
	return true
}
