//go:build linux

package e2e

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestActionOutcomes: every way out leaves outputs, a summary and annotations.
func TestActionOutcomes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name        string
		inputs      []string
		guidance    []string // the same check on the command line
		exit        int
		outputs     []string // passed, complete, candidates, defects
		annotations []string // kind and a part of the message, in order
		summary     []string
	}{
		{
			name:     "coherent",
			inputs:   []string{"server-command", "mcp-server keeps", "require-tools", "alpha, beta"},
			guidance: []string{"--require-tool", "alpha", "--require-tool", "beta", "--", "mcp-server", "keeps"},
			outputs:  []string{"true", "true", "0", "0"},
			summary:  []string{"## ✅ MCP guidance: `example`", "**PASSED**", "| none | 2 | 2 | yes |", "- required tools: `alpha`, `beta`"},
		},
		{
			name:        "candidates",
			inputs:      []string{"server-command", "mcp-server gated", "profiles", "all,none,roots"},
			guidance:    []string{"--profile", "roots", "--profile", "all", "--", "mcp-server", "gated"},
			outputs:     []string{"true", "true", "2", "0"},
			annotations: []string{"warning The instructions name the tool summarize, which some clients do not get. Missing for: profile none, roots. Available in: profile all. Check this reference"},
			summary:     []string{"## ✅", "1 tool to review", "`referenced-tool-unavailable`: Check this reference", "- `summarize`: missing for none, roots; available in all", "| – | – | ✓ | `summarize` |"},
		},
		{
			name:     "defects",
			inputs:   []string{"server-command", "mcp-server gated", "require-tools", "search\nsummarize\n\nnot-there\n"},
			guidance: []string{"--profile", "sampling", "--require-tool", "summarize", "--require-tool", "search", "--require-tool", "not-there", "--", "mcp-server", "gated"},
			exit:     1,
			outputs:  []string{"false", "true", "1", "3"},
			annotations: []string{
				"error The required tool not-there is not listed for every client. Missing for: profile none, sampling. Available in: no selected profile. ",
				"error The required tool summarize is not listed for every client. Missing for: profile none. Available in: profile sampling. ",
				"warning The instructions name the tool summarize, which some clients do not get. Missing for: profile none. ",
			},
			summary: []string{"## ❌ MCP guidance: `example`", "**FAILED**", "Defects", "Candidates", "- `not-there`"},
		},
		{
			name:     "incomplete",
			inputs:   []string{"server-command", "mcp-server odd-error", "server", "::error::x"},
			guidance: []string{"--profile", "sampling", "--", "mcp-server", "odd-error"},
			exit:     3,
			outputs:  []string{"null", "false", "0", "0"},
			// One cause is one annotation.
			annotations: []string{"error Incomplete in profile none, sampling: initialize-error (JSON-RPC error -32000) at initialize: "},
			summary:     []string{"## ⚠️ MCP guidance: `::error::x`", "**INCOMPLETE**", "**Profile none, sampling**: `initialize-error` (JSON-RPC error -32000) at initialize"},
		},
		{
			name:     "no such command",
			inputs:   []string{"server-command", "/no/such/c4n4ry", "profiles", "none"},
			guidance: []string{"--", "/no/such/c4n4ry"},
			exit:     3,
			outputs:  []string{"null", "false", "0", "0"},
			// In the container the advice names the runtimes.
			annotations: []string{"error Incomplete in profile none: spawn-failed (not found) at start: the server's command could not be started; check the command's spelling; the image has node, npm, npx, uv, uvx, python3 and git"},
			summary:     []string{"`spawn-failed` (not found) at start", "npx, uv, uvx"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStep(t, row.inputs...)
			r := s.run()
			r.ends(t, row.exit)
			want := map[string]string{
				"passed": row.outputs[0], "complete": row.outputs[1], "candidates": row.outputs[2], "defects": row.outputs[3],
				"exit-code": fmt.Sprint(row.exit), "report": "mcpeval-guidance.json", "sarif": "",
			}
			if diff := cmp.Diff(want, r.outputs); diff != "" {
				t.Errorf("outputs:\n%s", diff)
			}
			var got []workflowCommand
			for _, c := range r.commands {
				if c.name != "group" && c.name != "endgroup" {
					got = append(got, c)
				}
			}
			for i, want := range row.annotations {
				if i >= len(got) || !strings.HasPrefix(got[i].name+" "+got[i].message, want) || got[i].fields["title"] == "" {
					t.Errorf("annotation %d is not %q: %+v", i, want, got)
				}
			}
			if len(got) != len(row.annotations) {
				t.Errorf("%d annotations, want %d: %+v", len(got), len(row.annotations), got)
			}
			for _, part := range row.summary {
				if !strings.Contains(r.summary, part) {
					t.Errorf("the summary lacks %q:\n%s", part, r.summary)
				}
			}
			label := s.inputs["server"]
			if label == "" {
				label = "example"
			}
			direct := mcpeval(t, append([]string{"guidance", "--format", "json", "--settle-ms", "0", "--server", label, "--profile", "none"}, withSampling(row.inputs, row.guidance)...)...)
			if direct.exit != row.exit {
				t.Errorf("guidance ends with %d", direct.exit)
			}
			if diff := cmp.Diff(direct.stdout, r.report); diff != "" {
				t.Errorf("report (- guidance, + action):\n%s", diff)
			}
		})
	}
}

// withSampling adds the second profile of newStep where the row has no other.
func withSampling(inputs, flags []string) []string {
	if slices.Contains(inputs, "profiles") || slices.Contains(flags, "--profile") {
		return flags
	}
	return append([]string{"--profile", "sampling"}, flags...)
}

// TestActionUsage: an invalid input starts and contacts nothing, and says so
// everywhere.
func TestActionUsage(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	contacted := make(chan struct{}, 100)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			connection.Close()
			contacted <- struct{}{}
		}
	}()
	url := "http://" + listener.Addr().String() + "/c4n4ry"
	for _, row := range []struct {
		input  string
		inputs []string
	}{
		{"settle-ms", []string{"server-command", "mcp-server marks c4n4ry", "settle-ms", "c4n4ry"}},
		{"profiles", []string{"server-command", "mcp-server marks", "profiles", "c4n4ry"}},
		{"report-path", []string{"server-command", "mcp-server marks", "report-path", "../c4n4ry"}},
		{"working-directory", []string{"server-command", "mcp-server marks", "working-directory", "/c4n4ry"}},
		{"server-command", []string{"server-command", "mcp-server marks 'c4n4ry"}},
		{"server-command, url, config", []string{"server-command", "mcp-server marks", "url", url}},
		{"start-command", []string{"server-command", "mcp-server marks", "start-command", "mcp-server marks"}},
		{"start-command", []string{"url", "https://c4n4ry.example.com/", "allow-remote-http", "true", "start-command", "mcp-server marks"}},
		{"allow-remote-http", []string{"url", url, "start-command", "mcp-server marks", "allow-remote-http", "c4n4ry"}},
		{"http-authorization", []string{"url", url, "start-command", "mcp-server marks", "http-authorization", "a\tb"}},
		{"jobs", []string{"url", url, "start-command", "mcp-server marks", "jobs", "0"}},
		{"server", []string{"server-command", "mcp-server marks", "server", "::error::\nc4n4ry"}},
	} {
		t.Run(row.input, func(t *testing.T) {
			t.Parallel()
			s := newStep(t, row.inputs...)
			r := s.run()
			r.ends(t, 2)
			want := map[string]string{"passed": "null", "complete": "false", "exit-code": "2", "candidates": "0", "defects": "0", "report": "", "sarif": ""}
			if diff := cmp.Diff(want, r.outputs); diff != "" {
				t.Errorf("outputs:\n%s", diff)
			}
			errors := r.annotations("error")
			if len(errors) != 1 || !strings.HasPrefix(errors[0].message, "Invalid input "+row.input+": ") {
				t.Errorf("errors: %+v", errors)
			}
			if !strings.HasPrefix(r.summary, "## ❌ MCP guidance: invalid input\n\nInvalid input "+row.input+": ") || !strings.Contains(r.summary, "Nothing was started or contacted.") {
				t.Errorf("summary: %s", r.summary)
			}
			entries, _ := os.ReadDir(s.workspace)
			if len(entries) > 0 {
				t.Errorf("something was started or written: %v", entries)
			}
		})
	}
	t.Cleanup(func() {
		listener.Close()
		if len(contacted) > 0 {
			t.Error("the URL was contacted")
		}
	})
}
