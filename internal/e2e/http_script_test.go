//go:build linux

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the scripted HTTP server says. Prose, cursors, ids and paths hold the
// canary.
const (
	httpPath = "/mcp-" + canary + "?key=" + canary

	helloJSON = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},` +
		`"serverInfo":{"name":"` + canary + `","version":"` + canary + `"},"instructions":"` + canary + ": call `alpha` first\"}}"
	listJSON = `{"jsonrpc":"2.0","id":2,"result":{"tools":[` + toolAlpha + `,` + toolBeta + `]}}`

	toolAlpha = `{"name":"alpha","description":"` + canary + `","inputSchema":{"type":"object","title":"` + canary + `"}}`
	toolBeta  = `{"name":"beta","inputSchema":{"type":"object"}}`

	rootsRequest = `{"jsonrpc":"2.0","id":"r1","method":"roots/list"}`
	rootsReply   = `{"jsonrpc":"2.0","id":"r1","result":{"roots":[]}}`
)

// httpTurn is one request that the script answers.
type httpTurn struct {
	w http.ResponseWriter
	r *http.Request
	s *httpScript
}

// httpAnswer is a canned answer.
type httpAnswer func(*httpTurn)

// httpStep is a request that must come next, and its answer.
type httpStep struct {
	want   string // as requestKey has it
	answer httpAnswer
}

// httpScript is a Streamable HTTP server that knows which requests must come,
// in which order. An unexpected request fails the test, and so does one that
// never came. Every request is checked for what CONTRACT.md section 4.7 says
// of it.
type httpScript struct {
	t             *testing.T
	server        *httptest.Server
	authorization string

	mu        sync.Mutex
	steps     []httpStep
	session   string // that the requests must carry from now on
	versioned bool   // the requests must carry the version header from now on

	replies chan string   // bodies of the replies to our requests
	hungUp  chan struct{} // one for each stream that was held open and hung up
	ending  chan struct{} // the test is over: whatever still waits must end
	serving sync.WaitGroup
}

func newHTTPScript(t *testing.T, steps ...httpStep) *httpScript {
	s := &httpScript{
		t: t, steps: steps,
		replies: make(chan string, 100), hungUp: make(chan struct{}, 100), ending: make(chan struct{}),
	}
	s.server = httptest.NewUnstartedServer(s)
	s.server.Config.ErrorLog = quiet
	s.server.Start()
	t.Cleanup(s.close)
	return s
}

// authorize says what the Authorization header of each request must be.
func (s *httpScript) authorize(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.authorization = value
}

func (s *httpScript) url() string { return s.server.URL + httpPath }

func (s *httpScript) close() {
	close(s.ending)
	s.server.CloseClientConnections()
	s.server.Close()
	s.serving.Wait()
}

// finish fails the test for every request that never came.
func (s *httpScript) finish() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, left := range s.steps {
		s.t.Errorf("the request %q never came", left.want)
	}
}

func (s *httpScript) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.serving.Add(1)
	defer s.serving.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Errorf("reading a request: %v", err)
	}
	key := requestKey(body)
	s.mu.Lock()
	s.check(r, key, string(body))
	if len(s.steps) == 0 || s.steps[0].want != key {
		next := "nothing more"
		if len(s.steps) > 0 {
			next = s.steps[0].want
		}
		s.t.Errorf("%s %q came, want %s", r.Method, key, next)
		s.mu.Unlock()
		w.WriteHeader(http.StatusTeapot)
		return
	}
	current := s.steps[0]
	s.steps = s.steps[1:]
	s.mu.Unlock()
	if strings.HasPrefix(key, "reply ") {
		s.replies <- string(body)
	}
	current.answer(&httpTurn{w, r, s})
}

var helloPattern = regexp.MustCompile(`^\{"jsonrpc":"2\.0","id":1,"method":"initialize","params":\{"protocolVersion":"2025-06-18",` +
	`"capabilities":(\{\}|\{"roots":\{"listChanged":false\}\}|\{"sampling":\{\}\}|\{"elicitation":\{\}\}|\{"roots":\{"listChanged":false\},"sampling":\{\},"elicitation":\{\}\}),` +
	`"clientInfo":\{"name":"mcpeval","version":"[0-9A-Za-z.+-]+"\}\}\}$`)

// check judges everything about a request but its turn.
func (s *httpScript) check(r *http.Request, key, body string) {
	if r.Method != http.MethodPost {
		s.t.Errorf("a %s came: only POST is sent", r.Method)
	}
	if got := r.URL.RequestURI(); got != httpPath {
		s.t.Errorf("%s: request URI %q, want %q", key, got, httpPath)
	}
	if key == "notifications/initialized" {
		s.versioned = true
	}
	version := ""
	if s.versioned {
		version = "2025-06-18"
	}
	for name, want := range map[string]string{
		"Accept":               "application/json, text/event-stream",
		"Content-Type":         "application/json",
		"Accept-Encoding":      "identity",
		"Origin":               "",
		"Cookie":               "",
		"Last-Event-Id":        "",
		"Authorization":        s.authorization,
		"Mcp-Session-Id":       s.session,
		"Mcp-Protocol-Version": version,
	} {
		if got := strings.Join(r.Header.Values(name), "|"); got != want {
			s.t.Errorf("%s: header %s is %q, want %q", key, name, got, want)
		}
	}
	switch {
	case key == "initialize" && !helloPattern.MatchString(body):
		s.t.Errorf("initialize is %s", body)
	case key == "notifications/initialized" && body != `{"jsonrpc":"2.0","method":"notifications/initialized"}`:
		s.t.Errorf("notifications/initialized is %s", body)
	case key == "tools/list" && body != `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`:
		s.t.Errorf("tools/list is %s", body)
	}
}

// requestKey names a message of the client: its method, with the cursor of a
// listing, or "reply" and the id.
func requestKey(body []byte) string {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Cursor json.RawMessage }
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return fmt.Sprintf("no JSON: %q", body)
	}
	switch {
	case m.Method == "":
		return "reply " + string(m.ID)
	case m.Params.Cursor != nil:
		return m.Method + " " + string(m.Params.Cursor)
	}
	return m.Method
}

// The answers.

// respondWith writes a whole answer. header is names and values in turn.
func respondWith(status int, body string, header ...string) httpAnswer {
	return func(x *httpTurn) {
		for i := 0; i < len(header); i += 2 {
			x.w.Header().Add(header[i], header[i+1])
		}
		if x.w.Header().Get("Content-Type") == "" && status != http.StatusNoContent {
			x.w.Header()["Content-Type"] = nil // net/http would guess
		}
		x.w.WriteHeader(status)
		io.WriteString(x.w, body)
	}
}

func asJSON(body string) httpAnswer {
	return respondWith(200, body, "Content-Type", "application/json")
}

func accepted() httpAnswer { return respondWith(202, "") }

// asSSE answers with a stream that ends after the given text.
func asSSE(stream string) httpAnswer {
	return respondWith(200, stream, "Content-Type", "text/event-stream")
}

func sseEvent(data string) string { return "event: message\ndata: " + data + "\n\n" }

// liveSSE answers with a stream, written by act piece by piece.
func liveSSE(act func(*httpTurn)) httpAnswer {
	return func(x *httpTurn) {
		x.w.Header().Set("Content-Type", "text/event-stream")
		x.w.WriteHeader(200)
		x.flush()
		act(x)
	}
}

// withSession gives a session id, which later requests must carry.
func withSession(id string, then httpAnswer) httpAnswer {
	return func(x *httpTurn) {
		x.s.mu.Lock()
		x.s.session = id
		x.s.mu.Unlock()
		x.w.Header().Set("Mcp-Session-Id", id)
		then(x)
	}
}

// rawHTTP takes the connection over and writes bytes as they are; then, if there
// is one, goes on with it. The connection is closed afterwards.
func rawHTTP(text string, then func(*httpTurn, net.Conn)) httpAnswer {
	return func(x *httpTurn) {
		conn, _, err := http.NewResponseController(x.w).Hijack()
		if err != nil {
			x.s.t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(conn, text)
		if then != nil {
			then(x, conn)
		}
	}
}

// hangHTTP answers nothing.
func hangHTTP(x *httpTurn) { x.hold() }

func (x *httpTurn) flush() { http.NewResponseController(x.w).Flush() }

// send writes text to a live stream; false when the client has hung up.
func (x *httpTurn) send(text string) bool {
	_, err := io.WriteString(x.w, text)
	x.flush()
	return err == nil && x.r.Context().Err() == nil
}

// hold keeps the stream open until the client hangs up.
func (x *httpTurn) hold() {
	select {
	case <-x.r.Context().Done():
		x.s.hungUp <- struct{}{}
	case <-x.s.ending:
	}
}

// every writes text again and again, until the client hangs up.
func (x *httpTurn) every(pause time.Duration, text func(i int) string) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-tick.C:
			if !x.send(text(i)) {
				return
			}
		case <-x.r.Context().Done():
			return
		case <-x.s.ending:
			return
		}
	}
}

// reply waits for the client's reply and fails the test if it is another.
func (x *httpTurn) reply(want string) {
	select {
	case got := <-x.s.replies:
		if got != want {
			x.s.t.Errorf("reply %s, want %s", got, want)
		}
	case <-x.r.Context().Done():
		x.s.t.Error("the client hung up before it replied")
	case <-x.s.ending:
		x.s.t.Error("no reply came")
	}
}

// ask sends a request of the server in the stream and waits for the reply.
func (x *httpTurn) ask(request, reply string) {
	x.send(sseEvent(request))
	x.reply(reply)
}

// afterHangUp waits until the client has left a stream that was held open.
func afterHangUp(then httpAnswer) httpAnswer {
	return func(x *httpTurn) {
		select {
		case <-x.s.hungUp:
		case <-time.After(5 * time.Second):
			x.s.t.Error("the client has not hung up although it has its answer")
		}
		then(x)
	}
}

// Scripts. A nil answer is the plain one.

func atInitialize(a httpAnswer) []httpStep { return []httpStep{{"initialize", a}} }

func atInitialized(a httpAnswer) []httpStep {
	return []httpStep{{"initialize", asJSON(helloJSON)}, {"notifications/initialized", a}}
}

func atList(a httpAnswer) []httpStep {
	return []httpStep{{"initialize", asJSON(helloJSON)}, {"notifications/initialized", accepted()}, {"tools/list", a}}
}

func wholeScript(hello, initialized, list httpAnswer) []httpStep {
	if hello == nil {
		hello = asJSON(helloJSON)
	}
	if initialized == nil {
		initialized = accepted()
	}
	if list == nil {
		list = asJSON(listJSON)
	}
	return []httpStep{{"initialize", hello}, {"notifications/initialized", initialized}, {"tools/list", list}}
}

// replied puts requests that must come between two steps, each answered.
func replied(steps []httpStep, after string, keys ...string) []httpStep {
	var out []httpStep
	for _, s := range steps {
		out = append(out, s)
		if s.want == after {
			for _, key := range keys {
				out = append(out, httpStep{key, accepted()})
			}
		}
	}
	return out
}

// readKey reads what requests of this size say, for handlers that serve several
// sessions at a time.
func readKey(r *http.Request) (key string, body []byte) {
	body, _ = io.ReadAll(r.Body)
	return requestKey(bytes.TrimSpace(body)), body
}

// gzipBomb is 200 MB of blanks in 200 KB: the same member 200 times.
func gzipBomb() []byte {
	var member bytes.Buffer
	w := gzip.NewWriter(&member)
	w.Write(bytes.Repeat([]byte(" "), 1<<20))
	w.Close()
	return bytes.Repeat(member.Bytes(), 200)
}
