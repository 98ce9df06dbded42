//go:build linux

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// What is sent, byte by byte: some servers do not ignore the case of header
// names, and refuse what is not exact.
func TestHTTPWire(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	answers := []string{
		strings.Replace(sized("application/json", helloJSON), "Content-Type", "MCP-SESSION-ID: aB3~\r\nContent-Type", 1),
		header("HTTP/1.1 202 Accepted", "Content-Length: 0"),
		sized("application/json", listJSON),
	}
	address := rawListener(t, func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		reader := bufio.NewReader(c)
		var text strings.Builder
		length := 0
		for {
			line, err := reader.ReadString('\n')
			if err != nil {
				return
			}
			text.WriteString(line)
			fmt.Sscanf(line, "Content-Length: %d", &length)
			if line == "\r\n" {
				break
			}
		}
		body := make([]byte, length)
		io.ReadFull(reader, body)
		text.Write(body)
		if len(seen) < len(answers) {
			io.WriteString(c, answers[len(seen)])
		}
		seen = append(seen, text.String())
	})
	in := invocation{
		args: []string{"guidance", "--server", "wire", "--profile", "all", "--settle-ms", "0", "--url", "http://" + address + "/a/b%2Fc/?x=%20y&z"},
		env:  []string{"MCPEVAL_HTTP_AUTHORIZATION=Basic  x=="},
	}
	r := in.run(t)
	if r.exit != 0 {
		t.Fatalf("exit %d: %s", r.exit, r.stderr)
	}
	mu.Lock()
	defer mu.Unlock()
	request := func(body string, more ...string) string {
		lines := append([]string{
			"Host: " + address,
			"User-Agent: mcpeval/0.0.0-dev",
			fmt.Sprintf("Content-Length: %d", len(body)),
			"Accept: application/json, text/event-stream",
			"Accept-Encoding: identity",
			"Authorization: Basic  x==",
			"Connection: close",
			"Content-Type: application/json",
		}, more...)
		slices.Sort(lines)
		return strings.Join(append([]string{"POST /a/b%2Fc/?x=%20y&z HTTP/1.1"}, lines...), "\n") + "\n" + body
	}
	after := []string{"MCP-Protocol-Version: 2025-06-18", "Mcp-Session-Id: aB3~"}
	want := []string{
		request(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":` +
			`{"roots":{"listChanged":false},"sampling":{},"elicitation":{}},"clientInfo":{"name":"mcpeval","version":"0.0.0-dev"}}}`),
		request(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, after...),
		request(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`, after...),
	}
	if len(seen) != len(want) {
		t.Fatalf("%d requests came, want %d: %q", len(seen), len(want), seen)
	}
	for i := range want {
		head, body, _ := strings.Cut(seen[i], "\r\n\r\n")
		first, rest, _ := strings.Cut(head, "\r\n")
		lines := strings.Split(rest, "\r\n")
		slices.Sort(lines)
		got := strings.Join(append([]string{first}, lines...), "\n") + "\n" + body
		if got != want[i] {
			t.Errorf("request %d is\n%s\nwant\n%s", i+1, got, want[i])
		}
	}
}

// Each profile declares exactly what CONTRACT.md section 4.1 says.
func TestHTTPCapabilities(t *testing.T) {
	t.Parallel()
	for profile, capabilities := range map[string]string{
		"none":        `{}`,
		"roots":       `{"roots":{"listChanged":false}}`,
		"sampling":    `{"sampling":{}}`,
		"elicitation": `{"elicitation":{}}`,
		"all":         `{"roots":{"listChanged":false},"sampling":{},"elicitation":{}}`,
	} {
		var got string
		var mu sync.Mutex
		s := serveHTTP(t, func(w http.ResponseWriter, r *http.Request, key, body string) {
			mu.Lock()
			defer mu.Unlock()
			if key == "initialize" {
				_, rest, _ := strings.Cut(body, `"capabilities":`)
				got, _, _ = strings.Cut(rest, `,"clientInfo"`)
			}
			plainly(w, key)
		})
		if r := mcpeval(t, "guidance", "--server", "x", "--profile", profile, "--settle-ms", "0", "--url", s); r.exit != 0 {
			t.Errorf("%s: exit %d: %s", profile, r.exit, r.stderr)
		}
		if got != capabilities {
			t.Errorf("%s declares %s, want %s", profile, got, capabilities)
		}
	}
}
