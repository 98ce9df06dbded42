package discover

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/reference"
)

// roleVar makes the test binary a command of the tests: what it does.
// eventsVar and labelVar are of a stdio server: where it notes what happened,
// and who it is.
const (
	roleVar   = "MCPEVAL_TEST_ROLE"
	eventsVar = "MCPEVAL_TEST_EVENTS"
	labelVar  = "MCPEVAL_TEST_LABEL"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "":
		os.Exit(m.Run())
	case "exits":
		os.Exit(7)
	case "hangs":
		time.Sleep(time.Minute)
	case "serves":
		serveStdio()
	}
}

// command is the test binary in a role.
func command(t *testing.T, role string, env ...string) *options.Launch {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &options.Launch{Args: []string{path}, Env: append(os.Environ(), append(env, roleVar+"="+role)...)}
}

type request struct {
	ID     json.RawMessage
	Method string
	Params struct{ Capabilities map[string]any }
}

// answer is what one session of a scripted server says. The zero answer lists
// tool a alone.
type answer struct {
	status       int    // of the answer to initialize; 0 is 200
	tools        string // beside a, separated by blanks
	backwards    bool   // the catalog's order
	description  string // of each
	instructions string
}

func (a answer) to(r request) string {
	result := fmt.Sprintf(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"instructions":%q}`, a.instructions)
	if r.Method == "tools/list" {
		var entries []string
		for tool := range strings.FieldsSeq("a " + a.tools) {
			entries = append(entries, fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{}}`, tool, a.description))
		}
		if a.backwards {
			slices.Reverse(entries)
		}
		result = `{"tools":[` + strings.Join(entries, ",") + `]}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result)
}

// serveStdio answers slowly and notes when it starts, answers its first
// request, and ends.
func serveStdio() {
	note := func(event string) {
		f, err := os.OpenFile(os.Getenv(eventsVar), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			os.Exit(1)
		}
		f.WriteString(os.Getenv(labelVar) + " " + event + "\n")
		f.Close()
	}
	note("starts")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var r request
		if json.Unmarshal(lines.Bytes(), &r) != nil || r.ID == nil {
			continue
		}
		if r.Method == "initialize" {
			time.Sleep(50 * time.Millisecond) // what starts too early is seen
			note("answers")
		}
		fmt.Println(answer{}.to(r))
	}
	note("ends")
}

// peer is a scripted server behind a URL.
type peer struct {
	says func(n int, profile string) answer // n counts its sessions from 0
	// together is how many sessions must have begun before a catalog is
	// listed, or any but the first refused: those are then certainly side by
	// side.
	together int
	began    func(n int) // told when a session begins, if set

	mu     sync.Mutex
	begun  []string // the profile of each session
	said   []answer
	open   int // sessions that have begun and not got their catalog
	most   int
	joined chan struct{} // closed when enough are together
}

// listen starts the peer and returns its address.
func (p *peer) listen(t *testing.T) *options.Endpoint {
	t.Helper()
	p.joined = make(chan struct{})
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return endpoint(t, server.URL)
}

func endpoint(t *testing.T, text string) *options.Endpoint {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return &options.Endpoint{URL: u, Loopback: true}
}

func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m request
	json.NewDecoder(r.Body).Decode(&m)
	var said answer
	switch m.Method {
	case "initialize":
		var n int
		n, said = p.begin(m)
		w.Header().Set("Mcp-Session-Id", strconv.Itoa(n))
		if n == 0 && p.together > 0 {
			time.Sleep(50 * time.Millisecond) // who begins too early is seen
			if p.count() > 1 {
				said.status = http.StatusTeapot
			}
		}
		if said.status != 0 {
			if n > 0 {
				p.wait(r)
			}
			p.end()
			w.WriteHeader(said.status)
			return
		}
	case "tools/list":
		p.wait(r)
		n, _ := strconv.Atoi(r.Header.Get("Mcp-Session-Id"))
		p.mu.Lock()
		said = p.said[n]
		p.mu.Unlock()
		p.end()
	default:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, said.to(m))
}

// wait waits until enough sessions have begun.
func (p *peer) wait(r *http.Request) {
	if p.together > 0 {
		select {
		case <-p.joined:
		case <-r.Context().Done():
		}
	}
}

func (p *peer) begin(m request) (n int, said answer) {
	who := profile.All
	if len(m.Params.Capabilities) < 3 {
		who = profile.None
		for key := range m.Params.Capabilities {
			who = profile.Profile(key)
		}
	}
	p.mu.Lock()
	n = len(p.begun)
	p.begun = append(p.begun, string(who))
	said = p.says(n, string(who))
	p.said = append(p.said, said)
	p.open++
	p.most = max(p.most, p.open)
	if len(p.begun) == p.together {
		close(p.joined)
	}
	p.mu.Unlock()
	if p.began != nil {
		p.began(n)
	}
	return n, said
}

func (p *peer) end() {
	p.mu.Lock()
	p.open--
	p.mu.Unlock()
}

func (p *peer) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.begun)
}

// initials are the first letters of the profiles whose sessions began, from the
// nth.
func (p *peer) initials(n int) (letters string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, who := range p.begun[min(n, len(p.begun)):] {
		letters += who[:1]
	}
	return letters
}

// newRun is a run of every profile, with findings for those who do not list b
// where another does.
func newRun(jobs int, entries ...options.Entry) *Run {
	return &Run{
		Target:    options.Target{Entries: entries},
		Timing:    options.Timing{Timeout: time.Minute, Jobs: jobs},
		Protocols: []protocol.Version{protocol.Default},
		Profiles:  profile.Every(),
		Texts:     reference.NewExtractor(reference.Want{Words: true, Descriptions: true}),
		Tools:     true,
		Version:   "0.0.0",
		Affected: func(observations []observe.Observation) observe.Set {
			m := observe.NewMatrix(observations)
			if listing := m.Listing(name.Name("b")); m.Complete() && !listing.Empty() {
				return m.Everyone() &^ listing
			}
			return 0
		},
	}
}
