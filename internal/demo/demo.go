// Package demo is a small MCP server with the faults that the check finds: its
// texts name tools that some of its clients do not get. It must never do
// anything but speak over its two streams.
package demo

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
)

// instructions are the same for every client: that is the fault. Clients with
// a capability alone get summarize-note, translate-note and confirm-delete; a
// server in read-only mode has no delete-note; and list-labels is no more.
const instructions = "Notes server.\n\n" +
	"- Use `list-notes` first, then `read-note` with an id from the list.\n" +
	"- For a long note, call `summarize-note` instead of reading all of it.\n" +
	"- For a note in another language, ask translate-note.\n" +
	"- A note is removed with `delete-note`. Before that, call `confirm-delete` and wait for the user's answer.\n" +
	"- To find out what notes are about, call list-labels.\n"

// tool is one entry of the catalog.
type tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema map[string]any `json:"inputSchema"`
}

func entry(name, description string) tool {
	return tool{name, description, map[string]any{"type": "object"}}
}

// catalog is what a client gets that declares these capabilities in
// initialize. In 2026-07-28 nobody sends initialize, so a tool that waits for
// it never comes.
func catalog(readOnly bool, capabilities map[string]json.RawMessage) []tool {
	tools := []tool{
		entry("list-notes", "Lists the notes, the newest first."),
		entry("list-tags", "Lists the tags of all notes."),
		entry("read-note", "Returns one note. For a long one, summarize-note costs less."),
	}
	if !readOnly {
		tools = append(tools, entry("delete-note", "Removes one note."))
	}
	if capabilities["sampling"] != nil {
		tools = append(tools, entry("summarize-note", "Returns a note's summary."), entry("translate-note", "Returns a note in another language."))
	}
	if capabilities["elicitation"] != nil {
		tools = append(tools, entry("confirm-delete", "Asks the user whether a note may be removed."))
	}
	return tools
}

// initialized are the versions that begin with initialize.
var initialized = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

const stateless = "2026-07-28"

// Serve answers requests, a line each, until in ends. readOnly is the server's
// other configuration.
func Serve(in io.Reader, out io.Writer, readOnly bool) error {
	tools := catalog(readOnly, nil)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				ProtocolVersion string                     `json:"protocolVersion"`
				Capabilities    map[string]json.RawMessage `json:"capabilities"`
			} `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil || request.ID == nil {
			continue
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": request.ID}
		hello := map[string]any{
			"capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo":   map[string]any{"name": "mcpeval-demo", "version": "1"},
			"instructions": instructions,
		}
		switch request.Method {
		case "initialize":
			version := request.Params.ProtocolVersion
			if !slices.Contains(initialized, version) {
				version = initialized[len(initialized)-1]
			}
			tools = catalog(readOnly, request.Params.Capabilities)
			hello["protocolVersion"] = version
			answer["result"] = hello
		case "server/discover":
			hello["supportedVersions"] = append(slices.Clone(initialized), stateless)
			hello["resultType"] = "complete"
			answer["result"] = hello
		case "tools/list":
			answer["result"] = map[string]any{"tools": tools}
		default:
			answer["error"] = map[string]any{"code": -32601, "message": "Method not found"}
		}
		if err := json.NewEncoder(out).Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}
