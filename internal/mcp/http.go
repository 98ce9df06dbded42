package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/strictjson"
)

const (
	maxHeaders   = 256 << 10 // bytes of an answer's header; common servers stop at 8 to 64 KiB
	maxErrorBody = 64 << 10  // bytes of an error answer that are looked at for its JSON-RPC code

	// errorBodyTime is how long an error answer's body is waited for: its
	// status is known.
	errorBodyTime = 2 * time.Second
)

// Endpoint is a Streamable HTTP server.
type Endpoint struct {
	URL           *url.URL
	Loopback      bool   // only a loopback address may be dialled, and no proxy used
	Authorization string // the header's value; empty for none
}

var errNotLoopback = errors.New("not a loopback address")

// OpenHTTP makes a session with a Streamable HTTP server (MCP 2025-06-18,
// transports). Nothing is sent before Initialize.
func OpenHTTP(endpoint Endpoint, client Client) *Session {
	dialer := &net.Dialer{}
	proxy := http.ProxyFromEnvironment
	if endpoint.Loopback {
		proxy = nil
		dialer.ControlContext = loopbackOnly
	}
	x := &exchange{rootsDeclared: client.DeclaresRoots}
	t := &streamable{
		exchange: x,
		endpoint: endpoint,
		agent:    "mcpeval/" + client.Version,
		meter:    newMeter(),
		// A transport of its own has none of the redirects and cookies of
		// http.Client. No connection is used twice: servers end idle ones
		// after a few seconds, just when the settle window is over, and a POST
		// that meets the end cannot be sent again.
		wire: &http.Transport{
			Proxy:                  proxy,
			DialContext:            dialer.DialContext,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeaders,
		},
	}
	return &Session{transport: t, exchange: x, client: client}
}

// loopbackOnly refuses any other address after the name was resolved.
func loopbackOnly(_ context.Context, _, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return errNotLoopback
	}
	return nil
}

type streamable struct {
	*exchange
	endpoint    Endpoint
	agent       string
	wire        *http.Transport
	meter       *meter
	session     string
	initialized bool // the answer to initialize is there
}

func (t *streamable) call(ctx context.Context, request []byte) (message, *Fault) {
	answer, err := t.post(ctx, request)
	if err != nil {
		return message{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return message{}, t.refused(answer)
	}
	switch encoding := answer.Header.Get("Content-Encoding"); {
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		return message{}, &Fault{Code: diagnosis.ContentType, When: diagnosis.Compressed}
	case isType(answer, "application/json"):
		return t.single(ctx, answer.Body)
	case isType(answer, "text/event-stream"):
		return t.stream(ctx, answer.Body)
	}
	return message{}, fault(diagnosis.ContentType)
}

// single reads a body that is one message: our response.
func (t *streamable) single(ctx context.Context, body io.Reader) (message, *Fault) {
	text, err := io.ReadAll(io.LimitReader(body, maxFrame+1))
	if !t.meter.take(len(text)) || len(text) > maxFrame {
		return message{}, fault(diagnosis.FrameLimit)
	}
	if err != nil {
		return message{}, broken(ctx, err)
	}
	m, _, failed := t.take(text)
	if failed == nil && m.class != response {
		failed = fault(diagnosis.MessageMalformed)
	}
	t.initialized = true
	return m, failed
}

// stream reads events until our response is there, and nothing after it.
func (t *streamable) stream(ctx context.Context, body io.Reader) (message, *Fault) {
	events := newEvents(body, t.meter)
	for {
		data, err := events.next()
		if err != nil {
			return message{}, broken(ctx, err)
		}
		m, reply, failed := t.take(data)
		switch {
		case failed != nil:
			return m, failed
		case m.class == noise:
			return m, fault(diagnosis.MessageMalformed)
		case m.class == response:
			t.initialized = true
			return m, nil
		case reply != nil:
			if failed := t.notify(ctx, reply); failed != nil {
				return m, failed
			}
		}
	}
}

// notify posts a message that has no response: any 2xx will do, and its body
// is not read.
func (t *streamable) notify(ctx context.Context, notification []byte) *Fault {
	answer, err := t.post(ctx, notification)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return t.refused(answer)
	}
	return nil
}

// idle only waits: the server's requests come in the stream of a POST.
func (t *streamable) idle(ctx context.Context, d time.Duration) *Fault {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return contextFault()
	}
}

func (t *streamable) strayLines() (int, bool) { return 0, false }

// close ends the connections. The session at the server is left to its own
// timeout: DELETE is not among what is sent.
func (t *streamable) close() { t.wire.CloseIdleConnections() }

// post sends one message and judges the session id of what comes back.
func (t *streamable) post(ctx context.Context, body []byte) (*http.Response, *Fault) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.endpoint.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fault(diagnosis.HostUnknown)
	}
	// The names are written as the specification has them: some servers do
	// not ignore case.
	header := http.Header{
		"Accept":          {"application/json, text/event-stream"},
		"Accept-Encoding": {"identity"},
		"Content-Type":    {"application/json"},
		"User-Agent":      {t.agent},
	}
	if t.endpoint.Authorization != "" {
		header["Authorization"] = []string{t.endpoint.Authorization}
	}
	if t.initialized {
		header["MCP-Protocol-Version"] = []string{Version}
	}
	if t.session != "" {
		header["Mcp-Session-Id"] = []string{t.session}
	}
	request.Header = header
	answer, err := t.wire.RoundTrip(request)
	if err != nil {
		return nil, broken(ctx, err)
	}
	if answer.StatusCode/100 == 2 && !t.keepSession(answer.Header.Values("Mcp-Session-Id")) {
		answer.Body.Close()
		return nil, fault(diagnosis.SessionChanged)
	}
	return answer, nil
}

// keepSession takes the session id that the server gives and reports whether
// it is visible ASCII and the one it gave before (MCP 2025-06-18, transports,
// session management).
func (t *streamable) keepSession(ids []string) bool {
	for _, id := range ids {
		if id == "" {
			continue
		}
		for i := range len(id) {
			if id[i] < 0x21 || id[i] > 0x7e {
				return false
			}
		}
		if t.session != "" && t.session != id {
			return false
		}
		t.session = id
	}
	return true
}

// refused says what an answer's status means. The body of a refused
// initialize may hold the JSON-RPC error of a server that speaks only a later
// protocol (MCP 2026-07-28, transports): its code is looked at.
func (t *streamable) refused(answer *http.Response) *Fault {
	status := answer.StatusCode
	switch {
	case status >= 300 && status < 400 && status != http.StatusNotModified:
		return fault(diagnosis.HTTPRedirect)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return &Fault{Code: diagnosis.HTTPStatus, When: diagnosis.Unauthorized}
	}
	if !t.initialized && status >= 400 && status < 500 {
		enough := time.AfterFunc(errorBodyTime, func() { answer.Body.Close() })
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody))
		enough.Stop()
		if strictjson.Examine(text).Clean() {
			var rpcError []byte
			strictjson.Members(text, func(name string, value []byte) bool {
				if name == "error" {
					rpcError = value
				}
				return true
			})
			if f := initializeRefused(rpcError); f.Code == diagnosis.ProtocolVersion {
				return f
			}
		}
	}
	f := fault(diagnosis.HTTPStatus)
	// Once initialize was answered, the path is right: the session is lost.
	if !t.initialized && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed) {
		f.When = diagnosis.NotFound
	}
	return f
}

func isType(answer *http.Response, want string) bool {
	media, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(media), want)
}

// broken says what an error of the network means.
func broken(ctx context.Context, err error) *Fault {
	var ours *Fault
	var dns *net.DNSError
	switch {
	case errors.As(err, &ours):
		return ours
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		// A dial's deadline, which is the context's, may come a moment before.
		return contextFault()
	case errors.Is(err, errNotLoopback):
		return fault(diagnosis.NotLoopback)
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
		return fault(diagnosis.ConnectionRefused)
	case errors.As(err, &dns):
		return fault(diagnosis.HostUnknown)
	case ofTLS(err):
		return fault(diagnosis.TLSFailed)
	}
	return fault(diagnosis.TransportClosed)
}

// ofTLS reports whether an error came from crypto/tls, which has types for
// few of its errors, but one beginning for the texts of all.
func ofTLS(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.HasPrefix(err.Error(), "tls: ") {
			return true
		}
	}
	return false
}
