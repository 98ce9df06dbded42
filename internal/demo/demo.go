// Package demo is a small MCP server with the fault that the check finds: its
// instructions name tools that it only registers for clients with a
// capability. It must never do anything but speak over its two streams.
package demo

import (
	"bufio"
	"encoding/json"
	"io"
)

const instructions = "Notes server.\n\n" +
	"- Use `list-notes` first, then `read-note` with an id from the list.\n" +
	"- For a long note, call `summarize-note` instead of reading all of it.\n" +
	"- Before a note is deleted, call `confirm-delete` and wait for the user's answer.\n"

// Serve answers requests, a line each, until in ends.
func Serve(in io.Reader, out io.Writer) error {
	tools := []string{"list-notes", "read-note"}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Capabilities map[string]json.RawMessage `json:"capabilities"`
			} `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil || request.ID == nil {
			continue
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": request.ID}
		switch request.Method {
		case "initialize":
			// Here is the fault: the instructions stay the same.
			if request.Params.Capabilities["sampling"] != nil {
				tools = append(tools, "summarize-note")
			}
			if request.Params.Capabilities["elicitation"] != nil {
				tools = append(tools, "confirm-delete")
			}
			answer["result"] = map[string]any{
				"protocolVersion": "2025-06-18",
				"capabilities":    map[string]any{"tools": map[string]any{}},
				"serverInfo":      map[string]any{"name": "mcpeval-demo", "version": "1"},
				"instructions":    instructions,
			}
		case "tools/list":
			list := make([]map[string]any, len(tools))
			for i, name := range tools {
				list[i] = map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}}
			}
			answer["result"] = map[string]any{"tools": list}
		default:
			answer["error"] = map[string]any{"code": -32601, "message": "Method not found"}
		}
		if err := json.NewEncoder(out).Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}
