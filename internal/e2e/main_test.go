//go:build linux

// Package e2e tests the binary from the outside: its command line, what it
// says to a server, what it makes of hostile ones, and what it leaves behind.
// It looks at /proc, so it runs on Linux only.
package e2e

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/mcpeval-guidance/internal/cli"
)

// TestMain makes the test binary other programs too: mcpeval itself, run by
// the very function that main calls; the scripted server; a server made with
// the official SDK; and one that runs another with a container's rights. They
// are on the PATH of every test.
func TestMain(m *testing.M) {
	testscript.Main(cleanly{m}, map[string]func(){
		"mcpeval":           func() { os.Exit(cli.Run()) },
		"mcp-server":        scriptedServer,
		"sdk-server":        sdkServer,
		"as-in-a-container": asInAContainer,
		"in-a-container":    inAContainer,
	})
}

// cleanly removes what the tests share when they are done.
type cleanly struct{ m *testing.M }

func (c cleanly) Run() int {
	// Most tests wait for programs that wait: more of them than there are
	// processors can go on at a time. -parallel on the command line wins.
	flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0))))
	// A program with the race detector sleeps for a second before it exits.
	os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	status := c.m.Run()
	if shared.dir != "" {
		os.RemoveAll(shared.dir)
	}
	return status
}
