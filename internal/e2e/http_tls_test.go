//go:build linux

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// authority is a certificate authority of the test's own.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // for SSL_CERT_FILE
}

func newAuthority(t *testing.T) *authority {
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority " + canary},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return &authority{t, cert, key, file}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue makes a certificate for a name or an address.
func (a *authority) issue(host string, notAfter time.Time) tls.Certificate {
	key := newKey(a.t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: canary},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: notAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// overTLS turns a script's server into one with TLS.
func overTLS(t *testing.T, config *tls.Config, steps ...httpStep) *httpScript {
	s := newHTTPScript(t, steps...)
	s.server.Close()
	s.server = httptest.NewUnstartedServer(s)
	s.server.Config.ErrorLog = quiet
	s.server.TLS = config
	s.server.StartTLS()
	return s
}

func (a *authority) run(t *testing.T, url string, env ...string) result {
	t.Helper()
	in := invocation{
		args: []string{"guidance", "--server", "tls", "--profile", "none", "--settle-ms", "0", "--timeout-ms", "15000", "--allow-remote-http", "--url", url},
		env:  append([]string{"SSL_CERT_FILE=" + a.file, "SSL_CERT_DIR=" + filepath.Dir(a.file) + "/none"}, env...),
	}
	r := in.run(t)
	r.noCanary(t)
	t.Logf("exit %d, %v, %s", r.exit, r.diagnoses()["none"], r.elapsed.Round(time.Millisecond))
	return r
}

func TestTLS(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	hour := time.Now().Add(time.Hour)
	good := a.issue("127.0.0.1", hour)
	for _, row := range []struct {
		name   string
		config *tls.Config
		code   string
		steps  []httpStep
	}{
		{"a good certificate", &tls.Config{Certificates: []tls.Certificate{good}}, "", wholeScript(nil, nil, nil)},
		{"TLS 1.2", &tls.Config{Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS12}, "", wholeScript(nil, asSSE(""), asSSE(sseEvent(listJSON)))},
		{"another authority", &tls.Config{Certificates: []tls.Certificate{other.issue("127.0.0.1", hour)}}, "tls-failed", nil},
		{"another address", &tls.Config{Certificates: []tls.Certificate{a.issue("127.0.0.2", hour)}}, "tls-failed", nil},
		{"another name", &tls.Config{Certificates: []tls.Certificate{a.issue("localhost", hour)}}, "tls-failed", nil},
		{"an expired certificate", &tls.Config{Certificates: []tls.Certificate{a.issue("127.0.0.1", time.Now().Add(-time.Minute))}}, "tls-failed", nil},
		{"TLS 1.1 only", &tls.Config{Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, "tls-failed", nil},
		{"no cipher in common", &tls.Config{Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA}}, "tls-failed", nil},
		{"a client's certificate asked for", &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAnyClientCert}, "tls-failed", nil},
		{"the same in TLS 1.2", &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}, "tls-failed", nil},
		{"HTTP/2 offered", &tls.Config{Certificates: []tls.Certificate{good}, NextProtos: []string{"h2", "http/1.1"}}, "", wholeScript(nil, nil, nil)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := overTLS(t, row.config, row.steps...)
			r := a.run(t, s.url())
			s.finish()
			want := diagnosed{}
			exit := 0
			if row.code != "" {
				want, exit = diagnosed{row.code, "initialize"}, 3
			}
			if got := r.diagnoses()["none"]; got != want || r.exit != exit {
				t.Errorf("exit %d, %v, want %d, %v\n%s", r.exit, got, exit, want, r.stderr)
			}
		})
	}
}

func TestTLSMismatch(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	plain := newHTTPScript(t)
	encrypted := overTLS(t, &tls.Config{Certificates: []tls.Certificate{a.issue("127.0.0.1", time.Now().Add(time.Hour))}})
	silent := rawListener(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	abrupt := rawListener(t, func(c net.Conn) { c.Read(make([]byte, 1)) })
	alert := rawListener(t, func(c net.Conn) {
		c.Read(make([]byte, 1))
		c.Write([]byte{0x15, 3, 3, 0, 2, 2, 40}) // fatal, handshake failure
	})
	for _, row := range []struct{ name, url, code string }{
		{"https to a plain port", strings.Replace(plain.url(), "http:", "https:", 1), "tls-failed"},
		// Go's server answers 400 in plain text; others say nothing.
		{"http to a TLS port", strings.Replace(encrypted.url(), "https:", "http:", 1), "http-status"},
		{"http to a port that answers with an alert", "http://" + alert, "transport-closed"},
		{"https to a port that answers with an alert", "https://" + alert, "tls-failed"},
		{"https to a port that ends the handshake", "https://" + abrupt, "transport-closed"},
	} {
		r := a.run(t, row.url)
		if got := r.diagnoses()["none"]; got != (diagnosed{row.code, "initialize"}) || r.exit != 3 || r.elapsed > 10*time.Second {
			t.Errorf("%s: exit %d after %s, %v, want %s\n%s", row.name, r.exit, r.elapsed, got, row.code, r.stderr)
		}
	}
	in := invocation{args: []string{"guidance", "--server", "x", "--profile", "none", "--timeout-ms", "1000", "--url", "https://" + silent}}
	if r := in.run(t); r.diagnoses()["none"] != (diagnosed{"timeout", "initialize"}) || r.elapsed > 10*time.Second {
		t.Errorf("a handshake that hangs: after %s: %s", r.elapsed, r.stderr)
	}
}

// rawListener serves each connection with serve, until the test ends.
func rawListener(t *testing.T, serve func(net.Conn)) (address string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
	})
	return listener.Addr().String()
}

// proxy is an HTTP proxy that records what is asked of it and leads every
// CONNECT to one address.
type proxy struct {
	server *httptest.Server
	mu     sync.Mutex
	asked  []string
}

func newProxy(t *testing.T, to string) *proxy {
	p := &proxy{}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.Method+" "+r.Host+" "+r.Header.Get("Authorization")+r.Header.Get("Mcp-Session-Id"))
		p.mu.Unlock()
		if r.Method != http.MethodConnect || to == "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		server, err := net.Dial("tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		defer server.Close()
		w.WriteHeader(http.StatusOK)
		client, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer client.Close()
		go io.Copy(server, buffered)
		io.Copy(client, server)
	}))
	t.Cleanup(p.server.Close)
	return p
}

func (p *proxy) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

func (p *proxy) environ() []string {
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"="+p.server.URL)
	}
	return append(env, "NO_PROXY=", "no_proxy=")
}

// Loopback is never sent through a proxy, whatever the variables say.
func TestLoopbackIgnoresProxies(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	for _, tlsToo := range []bool{false, true} {
		for _, host := range []string{"127.0.0.1", "localhost", "LocalHost"} {
			var s *httpScript
			if tlsToo {
				s = overTLS(t, &tls.Config{Certificates: []tls.Certificate{a.issue(strings.ToLower(host), time.Now().Add(time.Hour))}}, wholeScript(nil, nil, nil)...)
			} else {
				s = newHTTPScript(t, wholeScript(nil, nil, nil)...)
			}
			s.authorize("Bearer " + canary)
			p := newProxy(t, "")
			url := strings.Replace(s.url(), "127.0.0.1", host, 1)
			r := a.run(t, url, append(p.environ(), "MCPEVAL_HTTP_AUTHORIZATION=Bearer "+canary)...)
			if r.exit != 0 {
				t.Errorf("%s: exit %d: %s", host, r.exit, r.stderr)
			}
			s.finish()
			if asked := p.requests(); len(asked) > 0 {
				t.Errorf("%s: the proxy was asked %q", host, asked)
			}
		}
	}
}

// A remote server is reached through the proxy of the environment, which
// sees nothing but its name. No name of a remote host leads to this machine,
// so the proxy also stands for the network.
func TestRemoteThroughProxy(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	hour := time.Now().Add(time.Hour)
	for _, row := range []struct{ name, certified, code string }{
		{"a good certificate", "mcp.example", ""},
		{"a certificate for another name", "other.example", "tls-failed"},
		{"a certificate for a part of the name", "example", "tls-failed"},
	} {
		steps := wholeScript(withSession("s-"+canary, asJSON(helloJSON)), nil, asSSE(sseEvent(listJSON)))
		if row.code != "" {
			steps = nil
		}
		s := overTLS(t, &tls.Config{Certificates: []tls.Certificate{a.issue(row.certified, hour)}}, steps...)
		s.authorize("Bearer " + canary)
		p := newProxy(t, s.server.Listener.Addr().String())
		r := a.run(t, "https://mcp.example"+httpPath, append(p.environ(), "MCPEVAL_HTTP_AUTHORIZATION=Bearer "+canary)...)
		s.finish()
		if got := r.diagnoses()["none"].code; got != row.code {
			t.Errorf("%s: exit %d: %s", row.name, r.exit, r.stderr)
		}
		for _, asked := range p.requests() {
			if asked != "CONNECT mcp.example:443 " {
				t.Errorf("%s: the proxy was asked %q", row.name, asked)
			}
		}
		if len(p.requests()) == 0 {
			t.Errorf("%s: the proxy was not asked", row.name)
		}
	}
	refusing := newProxy(t, "")
	r := a.run(t, "https://mcp.example"+httpPath, refusing.environ()...)
	if r.exit != 3 || r.diagnoses()["none"].code != "transport-closed" {
		t.Errorf("a proxy that refuses: exit %d: %s", r.exit, r.stderr)
	}
}

// What is not loopback is refused before anything is sent: a proxy that
// would see it is not asked, and the URL is not echoed.
func TestRemoteRefused(t *testing.T) {
	t.Parallel()
	p := newProxy(t, "")
	for _, row := range []struct {
		url    string
		remote bool
	}{
		{"https://mcp.example" + httpPath, false},
		{"http://mcp.example" + httpPath, true},
		{"http://127.0.0.1.example" + httpPath, true},
		{"http://localhost.example" + httpPath, true},
		{"http://xlocalhost" + httpPath, true},
		{"http://0.0.0.0:80" + httpPath, true},
		{"http://[::]" + httpPath, true},
		{"http://[::ffff:127.0.0.1]" + httpPath, true},
		{"http://10.0.0.1" + httpPath, true},
		{"http://2130706433" + httpPath, true},
		{"http://0x7f.1" + httpPath, true},
		{"http://127.1" + httpPath, true},
		{"http://user:" + canary + "@127.0.0.1" + httpPath, true},
		{"http://" + canary + "@127.0.0.1" + httpPath, true},
		{"http://127.0.0.1" + httpPath + "#" + canary, true},
		{"http://127.0.0.1" + httpPath + "#", true},
		{"ws://127.0.0.1" + httpPath, true},
		{"file:///etc/" + canary, true},
		{"unix:///" + canary, true},
		{"//127.0.0.1" + httpPath, true},
		{"127.0.0.1:80" + httpPath, true},
		{"http:///" + canary, true},
		{"http://127.0.0.1:0" + httpPath, true},
		{"http://127.0.0.1:99999" + httpPath, true},
		{"http://127.0.0.1/\r\nX-" + canary, true},
		{"", true},
	} {
		args := []string{"guidance", "--server", "x", "--url", row.url}
		if row.remote {
			args = append(args, "--allow-remote-http")
		}
		r := invocation{args: args, env: p.environ()}.run(t)
		r.noCanary(t)
		if r.exit != 2 || r.stdout != "" || r.stderr == "" || strings.Contains(r.stderr, "example") {
			t.Errorf("%q: exit %d, %s%s", row.url, r.exit, r.stdout, r.stderr)
		}
	}
	if asked := p.requests(); len(asked) > 0 {
		t.Errorf("the proxy was asked %q", asked)
	}
}
