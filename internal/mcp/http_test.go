package mcp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/protocol"
)

func TestLoopbackOnly(t *testing.T) {
	for address, allowed := range map[string]bool{
		"127.0.0.1:80":             true,
		"127.255.255.254:80":       true,
		"[::1]:80":                 true,
		"0.0.0.0:80":               false,
		"[::]:80":                  false,
		"10.0.0.1:80":              false,
		"128.0.0.1:80":             false,
		"192.0.2.1:80":             false,
		"169.254.169.254:80":       false,
		"[fe80::1%lo]:80":          false,
		"[::1%eth0]:80":            false,
		"[2001:db8::1]:80":         false,
		"[::ffff:192.0.2.1]:80":    false,
		"localhost:80":             false, // a name is no address
		"127.0.0.1":                false,
		"127.0.0.1.example.com:80": false,
		"":                         false,
	} {
		err := LoopbackOnly(context.Background(), "tcp", address, nil)
		if (err == nil) != allowed {
			t.Errorf("%q: %v, want allowed %t", address, err, allowed)
		}
	}
}

// The guard sits where the address is dialled: whatever localhost resolves
// to, nothing else is reached. Here an address stands for the name.
func TestLoopbackGuard(t *testing.T) {
	for _, target := range []string{"http://192.0.2.1/mcp", "https://[2001:db8::1]/mcp", "http://0.0.0.0:1/mcp"} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		session := OpenHTTP(Endpoint{URL: u, Loopback: true}, Client{Version: "0", Protocol: protocol.Default, Capabilities: "{}"})
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		_, f := session.Hello(ctx)
		cancel()
		session.Close()
		if f == nil || f.Code != diagnosis.NotLoopback {
			t.Errorf("%s: %v, want %s", target, f, diagnosis.NotLoopback)
		}
	}
}

func TestKeepSession(t *testing.T) {
	for _, row := range []struct {
		before string
		ids    []string
		ok     bool
		after  string
	}{
		{"", nil, true, ""},
		{"", []string{"a"}, true, "a"},
		{"", []string{"a", "a"}, true, "a"},
		{"", []string{"a", "b"}, false, ""},
		{"a", nil, true, "a"},
		{"a", []string{""}, true, "a"},
		{"a", []string{"a"}, true, "a"},
		{"a", []string{"A"}, false, ""},
		{"a", []string{"a "}, false, ""},
		{"", []string{"!~"}, true, "!~"},
		{"", []string{"a b"}, false, ""},
		{"", []string{"a\tb"}, false, ""},
		{"", []string{"a\x7f"}, false, ""},
		{"", []string{"\xc3\xa9"}, false, ""},
	} {
		s := &streamable{session: row.before}
		ok := s.keepSession(row.ids)
		if ok != row.ok || ok && s.session != row.after {
			t.Errorf("%q, then %q: %t %q, want %t %q", row.before, row.ids, ok, s.session, row.ok, row.after)
		}
	}
}

// A response is acted on when it is there: nothing after it is read, and its
// bytes are not waited for.
func TestStreamIsLeftWithTheResponse(t *testing.T) {
	reader, writer := io.Pipe()
	defer writer.Close()
	go io.WriteString(writer, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n\r")
	x := &exchange{}
	x.begin("tools/list", "{}")
	s := &streamable{exchange: x, meter: newMeter()}
	done := make(chan *Fault, 1)
	go func() {
		_, f := s.stream(context.Background(), reader)
		done <- f
	}()
	select {
	case f := <-done:
		if f != nil {
			t.Error(f)
		}
	case <-time.After(10 * time.Second):
		t.Error("the response is there, but more is waited for")
	}
}

// What one session receives is bounded in all, whatever its parts.
func TestHTTPTotalBound(t *testing.T) {
	body := `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"x":"` + strings.Repeat("x", 1<<20) + `"}}`
	x := &exchange{}
	s := &streamable{exchange: x, meter: &meter{left: 5<<20 + len(body)/2}}
	for i := 1; ; i++ {
		x.pending = 1
		_, f := s.single(context.Background(), strings.NewReader(body))
		if f == nil && i <= 5 {
			continue
		}
		if f == nil || f.Code != diagnosis.FrameLimit || i != 6 {
			t.Errorf("body %d: %v, want %s for the sixth", i, f, diagnosis.FrameLimit)
		}
		return
	}
}

// An error of the network has its code whatever it is wrapped in; the time
// that a dial gets is the profile's.
func TestBroken(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	timedOut := &net.OpError{Op: "dial", Err: timeoutError{}}
	for _, row := range []struct {
		name string
		ctx  context.Context
		err  error
		want diagnosis.Code
	}{
		{"the context ended", ended, io.ErrUnexpectedEOF, diagnosis.Timeout},
		{"a dial's deadline, a moment before the context's", context.Background(), timedOut, diagnosis.Timeout},
		{"a fault of ours", ended, errors.Join(fault(diagnosis.FrameLimit)), diagnosis.FrameLimit},
		{"a name", context.Background(), &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}, diagnosis.HostUnknown},
		{"the end", context.Background(), io.ErrUnexpectedEOF, diagnosis.TransportClosed},
	} {
		if got := broken(row.ctx, row.err); got.Code != row.want {
			t.Errorf("%s: %s, want %s", row.name, got.Code, row.want)
		}
	}
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

func (timeoutError) Is(err error) bool { return err == context.DeadlineExceeded }

// A server that refuses sees what was sent once, not again.
func TestNoRetry(t *testing.T) {
	count := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count++
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.Close()
	}))
	defer server.Close()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	session := OpenHTTP(Endpoint{URL: u, Loopback: true}, Client{Version: "0", Protocol: protocol.Default, Capabilities: "{}"})
	defer session.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, f := session.Hello(ctx); f == nil || f.Code != diagnosis.TransportClosed {
		t.Errorf("%v, want %s", f, diagnosis.TransportClosed)
	}
	server.Close()
	if count != 1 {
		t.Errorf("%d requests came, want 1", count)
	}
}
