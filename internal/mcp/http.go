package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
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
	URL      *url.URL
	Loopback bool        // only a loopback address may be dialled, and no proxy used
	Header   http.Header // sent beside the protocol's own
}

var errNotLoopback = errors.New("not a loopback address")

// OpenHTTP makes a session with a Streamable HTTP server (MCP 2025-06-18,
// transports). Nothing is sent before Initialize.
func OpenHTTP(endpoint Endpoint, client Client) *Session {
	dialer := &net.Dialer{}
	proxy := http.ProxyFromEnvironment
	if endpoint.Loopback {
		proxy = nil
		dialer.ControlContext = LoopbackOnly
	}
	x := newExchange(client)
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
	return newSession(t, x, client)
}

// LoopbackOnly is a net.Dialer's ControlContext that refuses any other address
// after the name was resolved.
func LoopbackOnly(_ context.Context, _, address string, _ syscall.RawConn) error {
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
	endpoint Endpoint
	agent    string
	wire     *http.Transport
	meter    *meter
	session  string
	greeted  bool // the answer to the first request is there
}

func (t *streamable) call(ctx context.Context, request []byte) (message, *Fault) {
	answer, err := t.post(ctx, request)
	if err != nil {
		return message{}, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return t.errorAnswer(answer)
	}
	if answer.ContentLength > maxFrame {
		return message{}, fault(diagnosis.FrameLimit)
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
	m, replies, failed := t.take(text)
	if failed == nil && m.class != response {
		failed = broke(diagnosis.NoAnswer)
	}
	t.greeted = true
	return m, t.reply(ctx, replies, failed)
}

// stream reads events until our response is there, and nothing after it.
func (t *streamable) stream(ctx context.Context, body io.Reader) (message, *Fault) {
	events := newEvents(body, t.meter)
	for {
		data, err := events.next()
		if err != nil {
			return message{}, broken(ctx, err)
		}
		m, replies, failed := t.take(data)
		if failed == nil && m.class == noise {
			failed = broke(diagnosis.NoMessage)
		}
		if failed = t.reply(ctx, replies, failed); failed != nil {
			return m, failed
		}
		if m.class == response {
			t.greeted = true
			return m, nil
		}
	}
}

// reply posts the replies to the server's requests, unless the exchange has
// failed already.
func (t *streamable) reply(ctx context.Context, replies [][]byte, failed *Fault) *Fault {
	for _, reply := range replies {
		if failed == nil {
			failed = t.notify(ctx, reply)
		}
	}
	return failed
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
	header := http.Header{"User-Agent": {t.agent}}
	maps.Copy(header, t.endpoint.Header)
	maps.Copy(header, http.Header{
		"Accept":          {"application/json, text/event-stream"},
		"Accept-Encoding": {"identity"},
		"Content-Type":    {"application/json"},
	})
	if t.version.HasHeader() && (t.greeted || t.version.Stateless()) {
		header["MCP-Protocol-Version"] = []string{string(t.version)}
	}
	if t.version.Stateless() {
		header["Mcp-Method"] = []string{t.method}
	}
	if t.session != "" {
		header["Mcp-Session-Id"] = []string{t.session}
	}
	request.Header = header
	answer, err := t.wire.RoundTrip(request)
	if err != nil {
		return nil, broken(ctx, err)
	}
	// A stateless version has no session: an id that comes is ignored.
	if answer.StatusCode/100 == 2 && !t.version.Stateless() && !t.keepSession(answer.Header.Values("Mcp-Session-Id")) {
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

// errorAnswer judges an answer whose status is an error. The body of one with
// a 4xx may hold a JSON-RPC error, which says more (MCP 2026-07-28,
// transports): to the first request, since the server may speak only a later
// protocol, and in a stateless version to any.
func (t *streamable) errorAnswer(answer *http.Response) (message, *Fault) {
	refused := t.refused(answer)
	if answer.StatusCode/100 != 4 || t.greeted && !t.version.Stateless() {
		return message{}, refused
	}
	enough := time.AfterFunc(errorBodyTime, func() { answer.Body.Close() })
	defer enough.Stop()
	text := errorBody(answer)
	if !strictjson.Examine(text).Clean() {
		return message{}, refused
	}
	m := message{class: response, refused: refused}
	strictjson.Members(text, func(name string, value []byte) bool {
		if name == "error" && strictjson.IsObject(value) {
			m.err = value
		}
		return true
	})
	if m.err == nil {
		return message{}, refused
	}
	t.pending = 0
	return m, nil
}

// errorBody reads an error answer's body, or the first event of its stream.
func errorBody(answer *http.Response) []byte {
	body := io.LimitReader(answer.Body, maxErrorBody)
	if isType(answer, "text/event-stream") {
		data, _ := newEvents(body, newMeter()).next()
		return data
	}
	text, _ := io.ReadAll(body)
	return text
}

// refused says what an answer's status means by itself.
func (t *streamable) refused(answer *http.Response) *Fault {
	status := answer.StatusCode
	f := &Fault{Code: diagnosis.HTTPStatus, Detail: diagnosis.Detail{HTTPStatus: status}}
	switch {
	case status >= 300 && status < 400 && status != http.StatusNotModified:
		f.Code = diagnosis.HTTPRedirect
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.When = diagnosis.Unauthorized
	// Once the first request was answered, the path is right: the session is
	// lost.
	case !t.greeted && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed):
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
