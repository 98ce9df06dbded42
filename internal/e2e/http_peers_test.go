//go:build linux

//lint:file-ignore SA1019 what 2026-07-28 deprecates is what 2025-06-18 has

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type noArguments struct{}

func sdkTool(s *mcp.Server, name string) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: canary},
		func(context.Context, *mcp.CallToolRequest, noArguments) (*mcp.CallToolResult, noArguments, error) {
			return nil, noArguments{}, nil
		})
}

// conditional is a server of the official SDK that registers tools by what
// the client declares, once it is initialized.
func conditional(*http.Request) *mcp.Server {
	var s *mcp.Server
	s = mcp.NewServer(&mcp.Implementation{Name: canary, Version: canary}, &mcp.ServerOptions{
		Instructions: canary + ": start with `search`; `confirm` asks the user, `workspace` looks at the roots.",
		HasTools:     true,
		InitializedHandler: func(_ context.Context, r *mcp.InitializedRequest) {
			declared := declaredIn(r.Session)
			if declared.Sampling != nil {
				sdkTool(s, "summarize")
			}
			if declared.Elicitation != nil {
				sdkTool(s, "confirm")
			}
			if declared.RootsV2 != nil {
				sdkTool(s, "workspace")
			}
		},
	})
	sdkTool(s, "search")
	return s
}

// declaredIn is what the client declared; nothing where the SDK has made a
// session for one request, which may know of no initialize.
func declaredIn(session *mcp.ServerSession) *mcp.ClientCapabilities {
	if params := session.InitializeParams(); params != nil && params.Capabilities != nil {
		return params.Capabilities
	}
	return &mcp.ClientCapabilities{}
}

// asksEarly asks for the roots as soon as it is initialized. That request
// belongs to no POST that has a stream.
func asksEarly(*http.Request) *mcp.Server {
	var s *mcp.Server
	s = mcp.NewServer(&mcp.Implementation{Name: canary, Version: canary}, &mcp.ServerOptions{
		HasTools: true,
		InitializedHandler: func(ctx context.Context, r *mcp.InitializedRequest) {
			if declared := declaredIn(r.Session); declared.RootsV2 == nil {
				return
			}
			if _, err := r.Session.ListRoots(ctx, nil); err == nil {
				sdkTool(s, "rooted")
			}
		},
	})
	sdkTool(s, "search")
	return s
}

// asksLate asks for the roots when the tools are asked for, and has a tool
// more when it gets them.
func asksLate(*http.Request) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: canary, Version: canary}, &mcp.ServerOptions{HasTools: true})
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			session, ok := r.GetSession().(*mcp.ServerSession)
			if ok && method == "tools/list" && declaredIn(session).RootsV2 != nil {
				ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				if _, err := session.ListRoots(ctx, nil); err == nil {
					sdkTool(s, "rooted")
				}
			}
			return next(ctx, method, r)
		}
	})
	sdkTool(s, "search")
	return s
}

// onlyPOST fails the test for any other method.
func onlyPOST(t *testing.T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			t.Errorf("a %s came: only POST is sent", r.Method)
		}
		next.ServeHTTP(w, r)
	})
}

func TestHTTPSDK(t *testing.T) {
	same := func(tools ...string) map[string][]string {
		all := map[string][]string{}
		for _, p := range everyProfile {
			all[p] = tools
		}
		return all
	}
	declared := map[string][]string{
		"none":        {"search"},
		"roots":       {"search", "workspace"},
		"sampling":    {"search", "summarize"},
		"elicitation": {"confirm", "search"},
		"all":         {"confirm", "search", "summarize", "workspace"},
	}
	rooted := same("search")
	rooted["roots"], rooted["all"] = []string{"rooted", "search"}, []string{"rooted", "search"}

	for _, row := range []struct {
		name   string
		server func(*http.Request) *mcp.Server
		opts   mcp.StreamableHTTPOptions
		tools  map[string][]string
	}{
		{"stateful", conditional, mcp.StreamableHTTPOptions{}, declared},
		{"stateful, JSON", conditional, mcp.StreamableHTTPOptions{JSONResponse: true}, declared},
		{"stateful, with an event store", conditional, mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}, declared},
		// A stateless server makes a session for each request, which knows
		// nothing of what initialize declared.
		{"stateless", conditional, mcp.StreamableHTTPOptions{Stateless: true}, same("search")},
		{"stateless, JSON", conditional, mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}, same("search")},
		{"roots asked while listing", asksLate, mcp.StreamableHTTPOptions{}, rooted},
		{"roots asked while listing, with an event store", asksLate, mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}, rooted},
		// Such a request has no stream but the standing one. The catalog
		// comes all the same: that it lacks a tool for want of that stream
		// cannot be known.
		{"roots asked early", asksEarly, mcp.StreamableHTTPOptions{}, same("search")},
		{"roots asked early, JSON", asksEarly, mcp.StreamableHTTPOptions{JSONResponse: true}, same("search")},
		// The SDK refuses to ask where it has no stream to ask in.
		{"roots asked while listing, JSON", asksLate, mcp.StreamableHTTPOptions{JSONResponse: true}, same("search")},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(onlyPOST(t, mcp.NewStreamableHTTPHandler(row.server, &row.opts)))
			t.Cleanup(func() {
				server.CloseClientConnections()
				server.Close()
			})
			r := mcpeval(t, "guidance", "--server", "sdk", "--settle-ms", "300", "--timeout-ms", "20000", "--format", "json", "--url", server.URL)
			r.noCanary(t)
			t.Logf("exit %d, %s, %d MiB, %v", r.exit, r.elapsed.Round(time.Millisecond), r.peak>>20, r.diagnoses())
			got := map[string][]string{}
			for _, p := range readReport(t, r).Profiles {
				if p.Tools != nil {
					got[p.Profile] = *p.Tools
				}
			}
			if diff := cmp.Diff(row.tools, got); diff != "" {
				t.Errorf("tools (-want +got):\n%s\n%s", diff, r.stderr)
			}
		})
	}
}

// everythingOverHTTP starts the reference server on a port of its own.
func everythingOverHTTP(t *testing.T) (endpoint *url.URL) {
	t.Helper()
	command := append(everything(t), "streamableHttp")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	server := exec.Command(command[0], command[1:]...)
	server.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port))
	output, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	ready := make(chan bool, 1)
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if strings.Contains(lines.Text(), "listening") {
				ready <- true
			}
		}
		ready <- false
	}()
	if !<-ready {
		t.Fatal("the reference server does not listen")
	}
	return &url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port), Path: "/mcp"}
}

// recordedHTTP is a proxy before a server that keeps what methods came.
func recordedHTTP(t *testing.T, to *url.URL) (endpoint string, methods func() []string) {
	var mu sync.Mutex
	var came []string
	behind := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host})
	behind.ErrorLog = quiet
	behind.FlushInterval = -1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		came = append(came, r.Method)
		mu.Unlock()
		behind.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + to.Path, func() []string {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(came)
		return slices.Compact(slices.Clone(came))
	}
}

// The protocol's reference server over HTTP gives what it gives over stdio.
// Observed of 2026.8.31: get-roots-list is registered by the capability that
// is declared, before any roots are known; the server asks for the roots 350
// ms after initialized on the standing GET stream and, when nobody has opened
// one, goes on without them. So the stream that is not opened changes nothing
// in the catalogs of roots and all.
func TestHTTPEverything(t *testing.T) {
	t.Parallel()
	endpoint := everythingOverHTTP(t)
	through, methods := recordedHTTP(t, endpoint)
	r := mcpeval(t, "guidance", "--server", "everything", "--format", "json", "--url", through)
	if r.exit != 0 || r.stderr != "" {
		t.Fatalf("exit %d: %s", r.exit, r.stderr)
	}
	report := readReport(t, r)
	counts := map[string]int{}
	for _, p := range report.Profiles {
		counts[p.Profile] = len(*p.Tools)
		if slices.Contains(*p.Tools, "get-roots-list") != (p.Profile == "roots" || p.Profile == "all") {
			t.Errorf("%s: get-roots-list is in the wrong catalogs", p.Profile)
		}
	}
	if diff := cmp.Diff(map[string]int{"none": 13, "roots": 14, "sampling": 14, "elicitation": 14, "all": 16}, counts); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	var found []string
	for _, c := range report.Candidates {
		found = append(found, c.Profile+" "+c.Tool)
	}
	if diff := cmp.Diff([]string{
		"none get-roots-list", "none trigger-elicitation-request", "none trigger-sampling-request",
		"roots trigger-elicitation-request", "roots trigger-sampling-request",
		"sampling get-roots-list", "sampling trigger-elicitation-request",
		"elicitation get-roots-list", "elicitation trigger-sampling-request",
	}, found); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
	if got := methods(); !slices.Equal(got, []string{"POST"}) {
		t.Errorf("methods %v, want POST only", got)
	}
	again := mcpeval(t, "guidance", "--server", "everything", "--format", "json", "--url", endpoint.String())
	if again.stdout != r.stdout {
		t.Errorf("a second run differs:\n%s", cmp.Diff(r.stdout, again.stdout))
	}
}

// What the standing stream would change, with the SDK's client, which opens
// one: the server asks for the roots there, and the catalog stays the same.
func TestHTTPEverythingWithStandingStream(t *testing.T) {
	t.Parallel()
	through, methods := recordedHTTP(t, everythingOverHTTP(t))
	asked := make(chan bool, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "peer", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{RootsV2: &mcp.RootCapabilities{}},
	})
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "roots/list" {
				asked <- true
			}
			return next(ctx, method, r)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: through}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	select {
	case <-asked:
	case <-ctx.Done():
		t.Fatal("the server did not ask for the roots on the standing stream")
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(tools.Tools) != 14 {
		t.Errorf("%d tools with a standing stream, want 14 as without", len(tools.Tools))
	}
	if got := methods(); !slices.Contains(got, "GET") {
		t.Errorf("methods %v: there was no standing stream", got)
	}
}
