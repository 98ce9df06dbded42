// Command mcpeval checks the instruction coherence of MCP servers.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/org/mcpeval-guidance/internal/cli"
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { cancel(cli.Interrupt{Signal: <-signals}) }()
	// Notified, not ignored: a server must not inherit it. A write to a
	// broken pipe is then an error, and what runs is still cleaned up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
