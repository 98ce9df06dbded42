package discover

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/profile"
)

// actVar makes the test binary the start-command: what it does, and where.
const actVar, addressVar = "MCPEVAL_TEST_ACT", "MCPEVAL_TEST_ADDRESS"

func TestMain(m *testing.M) {
	switch os.Getenv(actVar) {
	case "":
		os.Exit(m.Run())
	case "listens":
		listener, err := net.Listen("tcp", os.Getenv(addressVar))
		if err != nil {
			os.Exit(1)
		}
		for {
			connection, err := listener.Accept()
			if err != nil {
				os.Exit(1)
			}
			connection.Close()
		}
	case "exits":
	case "hangs":
		io.Copy(io.Discard, os.Stdin) // the null device
		time.Sleep(time.Minute)
	}
}

// startRun is a run whose start-command does that, at an address where nobody
// listens yet.
func startRun(t *testing.T, act string) (*Run, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	return &Run{Options: options.Options{
		Profiles: []profile.Profile{profile.None, profile.All},
		Timing:   options.Timing{Timeout: time.Minute},
		Target: options.Target{
			Entries: []options.Entry{{Endpoint: &options.Endpoint{URL: &url.URL{Scheme: "http", Host: address, Path: "/mcp"}, Loopback: true}}},
			Start:   &options.Launch{Env: append(os.Environ(), actVar+"="+act, addressVar+"="+address)},
		},
	}}, address
}

func launch(r *Run, words []string) options.Launch {
	start := *r.Options.Target.Start
	start.Args = words
	return start
}

func self(t *testing.T) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{path}
}

func TestStartServer(t *testing.T) {
	t.Parallel()
	r, address := startRun(t, "listens")
	stop, failed, err := r.StartServer(t.Context(), launch(r, self(t)))
	if err != nil || failed != nil {
		t.Fatal(failed, err)
	}
	if connection, err := net.Dial("tcp", address); err != nil {
		t.Error("the server does not listen: ", err)
	} else {
		connection.Close()
	}
	stop()
	if connection, err := net.Dial("tcp", address); err == nil {
		connection.Close()
		t.Error("the server listens after it was stopped")
	}
}

func TestStartServerFails(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		act     string
		command []string
		code    diagnosis.Code
	}{
		{act: "exits", code: diagnosis.StartFailed},
		{act: "hangs", code: diagnosis.StartTimeout},
		{act: "listens", command: []string{"/nonexistent/command"}, code: diagnosis.StartFailed},
	} {
		t.Run(row.act, func(t *testing.T) {
			t.Parallel()
			r, _ := startRun(t, row.act)
			if row.code == diagnosis.StartTimeout {
				r.Options.Timing.Timeout = time.Second
			}
			if row.command == nil {
				row.command = self(t)
			}
			_, failed, err := r.StartServer(t.Context(), launch(r, row.command))
			if err != nil || len(failed) != 2 {
				t.Fatalf("%v, %v", failed, err)
			}
			for i, o := range failed {
				if o.Profile != r.Options.Profiles[i] || o.Diagnosis == nil || o.Diagnosis.Code != row.code || o.Diagnosis.Stage != diagnosis.Start {
					t.Errorf("%s: %+v, not %s", o.Profile, o.Diagnosis, row.code)
				}
			}
		})
	}
}

func TestStartServerWherePortIsTaken(t *testing.T) {
	t.Parallel()
	r, address := startRun(t, "listens")
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, failed, err := r.StartServer(t.Context(), launch(r, self(t)))
	if err != nil || len(failed) != 2 || failed[0].Diagnosis.Code != diagnosis.PortTaken {
		t.Errorf("%+v, %v", failed, err)
	}
}

func TestStartServerInterrupted(t *testing.T) {
	t.Parallel()
	r, _ := startRun(t, "hangs")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := r.StartServer(ctx, launch(r, self(t))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, not the context's error", err)
	}
}
