//go:build linux

// Package e2e tests the binary from the outside: its command line, what it
// says to a server, what it makes of hostile ones, and what it leaves behind.
// It looks at /proc, so it runs on Linux only.
package e2e

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/mcpeval-guidance/internal/cli"
)

// TestMain makes the test binary three programs more: mcpeval itself, run by
// the very function that main calls; the scripted server; and a server made
// with the official SDK. They are on the PATH of every test.
func TestMain(m *testing.M) {
	testscript.Main(cleanly{m}, map[string]func(){
		"mcpeval":    func() { os.Exit(cli.Run()) },
		"mcp-server": scriptedServer,
		"sdk-server": sdkServer,
	})
}

// cleanly removes what the tests share when they are done.
type cleanly struct{ m *testing.M }

func (c cleanly) Run() int {
	status := c.m.Run()
	if shared.dir != "" {
		os.RemoveAll(shared.dir)
	}
	return status
}
