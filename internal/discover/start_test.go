package discover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/proc"
)

// nobody is a URL where nothing listens: its port is one of the system's own.
const nobody = "http://127.0.0.1:1/mcp"

// behindGate is a run whose server already listens while its start-command, in
// a role, still runs: what Observe does after it has started the command.
func behindGate(t *testing.T, role string, jobs int, timeout time.Duration, server http.Handler) *Run {
	t.Helper()
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	r := newRun(jobs, options.Entry{Endpoint: endpoint(t, listener.URL)})
	r.Timing.Timeout = timeout
	process, err := proc.Start(r.command(*command(t, role)), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Stop)
	r.gate = &gate{process: process, until: time.Now().Add(timeout)}
	return r
}

// Case 27: a server that is still starting, or a proxy before it, refuses the
// first request in some way; it is repeated until it is answered. What is no
// such refusal is an answer.
func TestGate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		answers string // the first requests', one after another; the last goes on
		role    string
		jobs    int
		timeout time.Duration
		want    string // of every session
	}{
		{answers: "200", want: "complete"},
		{answers: "reset 404 502 503 504 200", want: "complete"},
		{answers: "503 200", jobs: 5, want: "complete"},
		{answers: "503 403", want: "http-status 403 at initialize"},
		{answers: "500", want: "http-status 500 at initialize"},
		{answers: "502 503", timeout: 300 * time.Millisecond, want: "start-timeout (HTTP status 503) at start"},
		{answers: "502 503", jobs: 5, timeout: 300 * time.Millisecond, want: "start-timeout (HTTP status 503) at start"},
		{answers: "reset", timeout: 300 * time.Millisecond, want: "start-timeout at start"},
		{answers: "503 silent", timeout: 300 * time.Millisecond, want: "start-timeout (HTTP status 503) at start"},
		{answers: "503", role: "exits", want: "start-failed (exit status 7) at start"},
	} {
		t.Run(fmt.Sprint(row.answers, " ", row.role, row.jobs), func(t *testing.T) {
			t.Parallel()
			if row.role == "" {
				row.role = "hangs"
			}
			if row.timeout == 0 {
				row.timeout = time.Minute
			}
			p := &peer{says: func(int, string) answer { return answer{} }}
			answers := strings.Fields(row.answers)
			var asked atomic.Int32
			r := behindGate(t, row.role, row.jobs, row.timeout, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := int(asked.Add(1)) - 1
				switch said := answers[min(n, len(answers)-1)]; said {
				case "200":
					p.ServeHTTP(w, r)
				case "reset":
					panic(http.ErrAbortHandler)
				case "silent":
					io.Copy(io.Discard, r.Body) // or the end of the connection is not seen
					<-r.Context().Done()
				default:
					status, _ := strconv.Atoi(said)
					w.WriteHeader(status)
				}
			}))
			observations, err := r.sessions(t.Context(), r.plan())
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range observations {
				if got := title(o); got != row.want {
					t.Errorf("%s: %s, not %s", o.Session.Profile, got, row.want)
				}
			}
		})
	}
}

func title(o observe.Observation) string {
	if o.Complete() {
		return "complete"
	}
	return o.Diagnosis.Title()
}

// The time that a server takes to start is not its first session's; but the
// first request must be answered in it.
func TestGateTime(t *testing.T) {
	t.Parallel()
	const timeout, part = 2 * time.Second, 1200 * time.Millisecond
	const initialize, list = 1, 3 // requests of the first session, once it is let in
	for slow, want := range map[int32]string{initialize: "start-timeout (HTTP status 503) at start", list: "complete"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			p := &peer{says: func(int, string) answer { return answer{} }}
			var asked atomic.Int32
			ready := time.Now().Add(part)
			r := behindGate(t, "hangs", 0, timeout, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if time.Now().Before(ready) {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				if asked.Add(1) == slow {
					time.Sleep(part)
				}
				p.ServeHTTP(w, r)
			}))
			observations, err := r.sessions(t.Context(), r.plan())
			if err != nil || title(observations[0]) != want {
				t.Errorf("%s, %v", title(observations[0]), err)
			}
		})
	}
}

// What ends the start-command's part before the first session.
func TestStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() }) // after the rows
	for _, row := range []struct {
		name, url string
		start     *options.Launch
		want      string
	}{
		{"exits", nobody, command(t, "exits"), "start-failed (exit status 7) at start"},
		{"hangs", nobody, command(t, "hangs"), "start-timeout at start"},
		{"not found", nobody, &options.Launch{Args: []string{"/nonexistent/command"}}, "start-failed (not found) at start"},
		{"port taken", "http://" + taken.Addr().String(), command(t, "hangs"), "port-taken at start"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRun(0, options.Entry{Endpoint: endpoint(t, row.url)})
			r.Timing.Timeout, r.Target.Start = time.Minute, row.start
			if row.name == "hangs" {
				r.Timing.Timeout = 300 * time.Millisecond
			}
			observations, err := r.Observe(t.Context())
			if err != nil || len(observations) != len(r.Profiles) {
				t.Fatalf("%d observations, %v", len(observations), err)
			}
			for i, o := range observations {
				if got := title(o); got != row.want || o.Session.Profile != r.Profiles[i] || o.Diagnosis.When&diagnosis.OverHTTP == 0 {
					t.Errorf("%s: %s, not %s", o.Session.Profile, got, row.want)
				}
			}
		})
	}
}

// An interrupt does not wait for the server, and nothing is left of it.
func TestStartInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := newRun(0, options.Entry{Endpoint: endpoint(t, nobody)})
	r.Target.Start = command(t, "hangs")
	r.Progress = func(observe.Session, *observe.Observation) { cancel() }
	observations, err := r.Observe(ctx)
	if !errors.Is(err, context.Canceled) || observations != nil || !r.gate.process.Ended() {
		t.Errorf("%v, %d observations, ended: %v", err, len(observations), r.gate.process.Ended())
	}
}

// The look at the port asks nobody but this machine.
func TestAccepts(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	at := func(address string) *options.Endpoint {
		return &options.Endpoint{URL: &url.URL{Scheme: "http", Host: address}, Loopback: true}
	}
	if !accepts(t.Context(), at(listener.Addr().String())) {
		t.Error("nobody seems to listen where somebody does")
	}
	if accepts(t.Context(), endpoint(t, nobody)) {
		t.Error("somebody seems to listen where nobody does")
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		ip, _, err := net.ParseCIDR(address.String())
		if err != nil || ip.IsLoopback() || ip.To4() == nil {
			continue
		}
		outside, err := net.Listen("tcp", net.JoinHostPort(ip.String(), "0"))
		if err != nil {
			continue
		}
		defer outside.Close()
		if accepts(t.Context(), at(outside.Addr().String())) {
			t.Error("an address that is not loopback was dialled")
		}
	}
}
