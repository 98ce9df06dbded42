//go:build linux

package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// starts counts the servers that have started before this one.
func (p *peer) starts() int {
	n := strings.Count(p.read("pids"), "\n")
	p.enter()
	return n
}

// lists is a server whose instructions name alpha and beta, and that lists
// these tools.
func (p *peer) lists(tools ...string) {
	p.page = func(string) string { return catalog(tools...) }
	p.serve()
}

// againBehaviours list other tools at another look.
var againBehaviours = map[string]behaviour{
	"plain-count": func(p *peer) { p.starts(); p.serve() },
	// Case 24: the first start on a fresh machine lists less than any other.
	"first-lists-less": func(p *peer) {
		if p.starts() == 0 {
			p.lists("alpha")
			return
		}
		p.lists("alpha", "beta")
	},
	// Case 23: a second instance beside another lists less and says nothing.
	"lists-less-beside-another": besides(func(p *peer) { p.lists("alpha") }),
	// The fault that the check is for.
	"all-alone-has-beta": func(p *peer) {
		p.starts()
		p.expect("initialize")
		p.answer(p.hello)
		if p.profile == "all" {
			p.lists("alpha", "beta")
			return
		}
		p.lists("alpha")
	},
	"lists-by-turns": func(p *peer) {
		if p.starts()%2 == 1 {
			p.lists("alpha", "beta")
			return
		}
		p.lists("alpha")
	},
	"other-instructions-each-time": func(p *peer) {
		p.hello = hello(`"capabilities":{"tools":{}},"instructions":"` + "`alpha` and `beta` " + strconv.Itoa(p.starts()) + `"`)
		p.expect("initialize")
		p.answer(p.hello)
		if p.profile == "all" {
			p.lists("alpha", "beta")
			return
		}
		p.lists("alpha")
	},
}

// TestSeenAgain: no finding rests on one look (CONTRACT.md section 4.5).
func TestSeenAgain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		server     string
		jobs       string
		exit       int
		starts     int // of servers
		candidates int
		code       string // in some session
	}{
		{server: "plain-count", starts: 5},
		{server: "first-lists-less", starts: 11},                                 // 24
		{server: "first-lists-less", jobs: "1", starts: 11},                      // 24
		{server: "lists-less-beside-another", starts: 11},                        // 23
		{server: "all-alone-has-beta", starts: 7, candidates: 4},                 // the first, and the first other that was beside
		{server: "all-alone-has-beta", jobs: "1", starts: 6, candidates: 4},      // only the first start was not alone for good
		{server: "lists-by-turns", jobs: "1", exit: 3, code: "catalog-unstable"}, // each differs from its own second look
		{server: "other-instructions-each-time", exit: 3, code: "catalog-unstable"},
	} {
		t.Run(row.server+row.jobs, func(t *testing.T) {
			t.Parallel()
			args := []string{"guidance", "--server", "x", "--format", "json", "--settle-ms", "0", "--require-tool", "alpha"}
			if row.jobs != "" {
				args = append(args, "--jobs", row.jobs)
			}
			r := mcpeval(t, append(args, "--", "mcp-server", row.server)...)
			got := r.report(t)
			if r.exit != row.exit || len(got.Candidates) != row.candidates {
				t.Errorf("exit status %d, %d candidates: %s", r.exit, len(got.Candidates), r.stderr)
			}
			if n := strings.Count(r.recorded("pids"), "\n"); row.starts > 0 && n != row.starts {
				t.Errorf("%d servers were started, not %d", n, row.starts)
			}
			if !strings.Contains(r.stderr, row.code) {
				t.Errorf("stderr lacks %s: %s", row.code, r.stderr)
			}
			r.noCanary(t)
		})
	}
}

// Case 22: a server that keeps its client in one slot. A URL is one server, so
// its sessions are observed one after another, and ten runs give one report.
func TestHTTPOneSlot(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	roots := false
	url := serveHTTP(t, func(w http.ResponseWriter, r *http.Request, _, body string) {
		var m incoming
		if json.Unmarshal([]byte(body), &m) != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if m.Method == "initialize" {
			_, roots = m.Params.Capabilities["roots"]
			w.Write([]byte(response(string(m.ID), hello(`"capabilities":{"tools":{}},"instructions":`+prose))))
			return
		}
		tools := []string{"alpha"}
		if roots {
			tools = append(tools, "beta")
		}
		w.Write([]byte(response(string(m.ID), catalog(tools...))))
	})
	first := ""
	for range 10 {
		r := mcpeval(t, "guidance", "--server", "x", "--format", "json", "--settle-ms", "0", "--url", url)
		if first == "" {
			first = r.stdout
		}
		if got := r.report(t); r.stdout != first || len(got.Candidates) != 3 {
			t.Fatalf("exit status %d, %d candidates: %s", r.exit, len(got.Candidates), r.stderr)
		}
	}
}

// TestConfigurations: several entries and versions of the demo server, in the
// second report.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := `{"mcpServers": {
		"My Server": {"command": "mcpeval", "args": ["demo-server"]}, // comments are fine
		"read only": {"command": "mcpeval", "args": ["demo-server", "--read-only"]},
	}}`
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	r := invocation{dir: dir, args: []string{"guidance", "--server", "demo", "--config", ".mcp.json", "--entry", "My Server", "--entry", "read only",
		"--protocol", "2026-07-28", "--protocol", "2025-06-18", "--profile", "none", "--profile", "sampling", "--references", "all", "--settle-ms", "0", "--format", "json"}}.run(t)
	var got struct {
		Schema   string
		Sessions []struct {
			Entry    string
			Protocol string `json:"protocol_version"`
			Profile  string
			Tools    []string
		}
		Findings []struct {
			Reason, Tool        string
			Source              *struct{ In, Tool string }
			Sessions, Available []int
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.exit != 0 {
		t.Fatalf("exit status %d, %v: %s", r.exit, err, r.stderr)
	}
	var sessions, findings []string
	for _, s := range got.Sessions {
		sessions = append(sessions, s.Entry+" "+s.Protocol+" "+s.Profile+" "+strconv.Itoa(len(s.Tools)))
	}
	for _, f := range got.Findings {
		findings = append(findings, f.Reason+" "+f.Tool+" "+f.Source.In+" "+strconv.Itoa(len(f.Sessions)))
	}
	if want := []string{
		"My-Server 2025-06-18 none 4", "My-Server 2025-06-18 sampling 6", "My-Server 2026-07-28 none 4", "My-Server 2026-07-28 sampling 4",
		"read-only 2025-06-18 none 3", "read-only 2025-06-18 sampling 5", "read-only 2026-07-28 none 3", "read-only 2026-07-28 sampling 3",
	}; !slices.Equal(sessions, want) {
		t.Errorf("sessions %q", sessions)
	}
	if want := []string{
		"referenced-tool-unavailable delete-note instructions 4", "referenced-tool-unavailable summarize-note instructions 6",
		"referenced-tool-unavailable summarize-note description 6", "referenced-tool-unavailable translate-note instructions 6",
		"unlisted-tool-named list-labels instructions 8",
	}; !slices.Equal(findings, want) {
		t.Errorf("findings %q", findings)
	}
}
