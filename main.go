// Command mcpeval checks the instruction coherence of MCP servers.
package main

import (
	"os"

	"github.com/org/mcpeval-guidance/internal/cli"
)

func main() { os.Exit(cli.Run()) }
