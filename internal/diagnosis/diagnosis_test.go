package diagnosis

import (
	"regexp"
	"strings"
	"testing"

	"github.com/org/mcpeval-guidance/internal/protocol"
)

// contract has the codes of CONTRACT.md section 4.3, whose names are fixed.
var contract = []Code{
	"spawn-failed", "transport-closed", "timeout", "connection-refused", "http-status", "http-redirect", "content-type",
	"initialize-error", "protocol-version", "catalog-error", "entry-malformed", "tool-duplicate", "tool-limit",
	"cursor-malformed", "cursor-repeated", "page-limit", "message-malformed", "session-changed", "frame-limit", "roots-limit",
	"host-unknown", "not-loopback", "tls-failed", "start-failed", "start-timeout", "port-taken", "finding-limit", "catalog-unstable",
	"header-mismatch", "capability-required", "result-type", "server-request",
}

func TestContractCodes(t *testing.T) {
	t.Parallel()
	listed := map[Code]bool{}
	for _, entry := range Entries() {
		if listed[entry.Code] {
			t.Errorf("%s is listed twice", entry.Code)
		}
		listed[entry.Code] = true
	}
	for _, code := range contract {
		if !listed[code] {
			t.Errorf("%s is not listed", code)
		}
	}
}

var codeGrammar = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// Every text can stand in the middle of a line, on a terminal, in an
// annotation and in Markdown: one line of plain ASCII, lower case first, no
// full stop at its end, no character that a table or the runner would read.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, entry := range Entries() {
		if !codeGrammar.MatchString(string(entry.Code)) {
			t.Errorf("code %q", entry.Code)
		}
		texts := []string{entry.Cause, entry.Advice}
		seen := map[string]bool{entry.Advice: true}
		for _, variant := range entry.Variants {
			if variant.When == 0 && variant.Detail == (Detail{}) {
				t.Errorf("%s: a variant without circumstances hides the entry's own advice", entry.Code)
			}
			if seen[variant.Advice] {
				t.Errorf("%s: two variants give the same advice", entry.Code)
			}
			seen[variant.Advice] = true
			texts = append(texts, variant.Advice)
		}
		for _, text := range texts {
			switch {
			case text == "" || text != strings.TrimSpace(text) || strings.HasSuffix(text, "."):
				t.Errorf("%s: %q is empty, has blanks around it or a full stop", entry.Code, text)
			case strings.ContainsAny(text, "\n\r\t`|<>") || strings.Contains(text, "##[") || strings.HasPrefix(text, "::"):
				t.Errorf("%s: %q has characters with a meaning to what reads it", entry.Code, text)
			}
			for _, c := range text {
				if c < 0x20 || c > 0x7e {
					t.Errorf("%s: %q is not plain ASCII", entry.Code, text)
				}
			}
			if first := text[:1]; first != strings.ToLower(first) {
				t.Errorf("%s: %q begins with a capital", entry.Code, text)
			}
		}
	}
}

// A variant that needs more circumstances than a later one must come first,
// or it would never be given.
func TestEveryVariantCanBeGiven(t *testing.T) {
	t.Parallel()
	for _, entry := range Entries() {
		for _, variant := range entry.Variants {
			d := Diagnosis{Code: entry.Code, When: variant.When, Detail: variant.Detail}
			if got := d.Advice(); got != variant.Advice {
				t.Errorf("%s: %q is hidden by %q", entry.Code, variant.Advice, got)
			}
			d.When |= Beside
			if got := d.Advice(); !strings.HasPrefix(got, variant.Advice) {
				t.Errorf("%s beside others: %q", entry.Code, got)
			}
		}
	}
}

// The advice that CONTRACT.md section 4.3 asks for.
func TestAdvice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		d    Diagnosis
		has  []string
		not  []string
	}{
		{"spawn failure in the container", Diagnosis{Code: SpawnFailed, When: InContainer}, []string{"node", "npx", "uv", "uvx", "python3", "git"}, nil},
		{"spawn failure elsewhere", Diagnosis{Code: SpawnFailed, When: Beside}, []string{"command"}, []string{"npx", "--jobs"}},
		{"timeout alone", Diagnosis{Code: Timeout}, []string{"--timeout-ms"}, []string{"--jobs", "stdout"}},
		{"timeout beside others", Diagnosis{Code: Timeout, When: Beside}, []string{"--timeout-ms", "--jobs 1"}, nil},
		{"transport lost beside others", Diagnosis{Code: TransportClosed, When: Beside}, []string{"--jobs 1"}, nil},
		{"transport lost alone", Diagnosis{Code: TransportClosed}, []string{"stderr"}, []string{"--jobs"}},
		{"half a frame", Diagnosis{Code: TransportClosed, When: NoNewline}, []string{"newline"}, nil},
		{"noise before a timeout", Diagnosis{Code: Timeout, When: Noise}, []string{"stdout", "stderr"}, nil},
		{"noise before a timeout, beside others", Diagnosis{Code: Timeout, When: Noise | Beside}, []string{"stdout", "--jobs 1"}, nil},
		{"indented JSON", Diagnosis{Code: Timeout, When: Noise | BrokenLines}, []string{"one line", "indented"}, nil},
		{"roots over a GET stream", Diagnosis{Code: Timeout, When: StandingStream}, []string{"GET"}, nil},
		{"refused in the container", Diagnosis{Code: ConnectionRefused, When: InContainer | Loopback}, []string{"localhost", "container", "start-command", "--network host"}, nil},
		{"refused in the container, remote", Diagnosis{Code: ConnectionRefused, When: InContainer}, nil, []string{"localhost"}},
		{"refused on a desk", Diagnosis{Code: ConnectionRefused, When: Loopback | Beside}, []string{"running"}, []string{"container", "--jobs"}},
		{"a later protocol", Diagnosis{Code: ProtocolVersion, When: LaterVersion, Detail: Detail{Ask: protocol.V20260728}}, []string{"only a later protocol", "--protocol 2026-07-28"}, nil},
		{"an older version", Diagnosis{Code: ProtocolVersion, When: OlderVersion, Detail: Detail{Ask: protocol.V20241105}}, []string{"older", "--protocol 2024-11-05"}, nil},
		{"a newer version", Diagnosis{Code: ProtocolVersion, When: NewerVersion, Detail: Detail{Ask: protocol.V20251125}}, []string{"newer", "--protocol 2025-11-25"}, nil},
		{"npx in its own repository", Diagnosis{Code: TransportClosed, When: Npx, Detail: Detail{Ended: true, ExitStatus: 127}}, []string{"npx -y ."}, []string{"--jobs"}},
		{"no authorization", Diagnosis{Code: HTTPStatus, When: Unauthorized}, []string{"MCPEVAL_HTTP_AUTHORIZATION", "http-authorization"}, nil},
		{"not found", Diagnosis{Code: HTTPStatus, When: NotFound}, []string{"path"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			advice := c.d.Advice()
			for _, word := range c.has {
				if !strings.Contains(advice, word) {
					t.Errorf("no %q in %q", word, advice)
				}
			}
			for _, word := range c.not {
				if strings.Contains(advice, word) {
					t.Errorf("%q in %q", word, advice)
				}
			}
			if c.d.Cause() == "" || c.d.Cause() == (Diagnosis{}).Cause() {
				t.Errorf("cause %q", c.d.Cause())
			}
		})
	}
}

// What is known beside a code stands behind it (CONTRACT.md section 4.3).
func TestTitles(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]Diagnosis{
		"timeout at settle":                                                           {Code: Timeout, Stage: Settle},
		"http-status 503 at initialize":                                               {Code: HTTPStatus, Stage: Initialize, Detail: Detail{HTTPStatus: 503}},
		"start-timeout (HTTP status 502) at start":                                    {Code: StartTimeout, Stage: Start, Detail: Detail{HTTPStatus: 502}},
		"transport-closed (exit status 127) at initialize":                            {Code: TransportClosed, Stage: Initialize, Detail: Detail{Ended: true, ExitStatus: 127}},
		"transport-closed (signal 9, after 1 line that was no message) at tools/list": {Code: TransportClosed, Stage: ToolsList, Detail: Detail{Ended: true, Signal: 9, Noise: 1}},
		"spawn-failed (not found) at start":                                           {Code: SpawnFailed, Stage: Start, Detail: Detail{Start: NoProgram}},
		"catalog-error (HTTP status 400, JSON-RPC error -32602) at tools/list":        {Code: CatalogError, Stage: ToolsList, Detail: Detail{HTTPStatus: 400, ErrorAnswer: true, RPCCode: -32602}},
		"entry-malformed (page 2, entry 3, inputSchema) at tools/list":                {Code: EntryMalformed, Stage: ToolsList, Detail: Detail{Page: 2, Entry: 3, Part: InputSchema}},
		"tool-duplicate (page 1, entry 2, get_me) at tools/list":                      {Code: ToolDuplicate, Stage: ToolsList, Detail: Detail{Page: 1, Entry: 2, Tool: "get_me"}},
		"message-malformed (repeated key) at initialize":                              {Code: MessageMalformed, Stage: Initialize, Detail: Detail{Rule: RepeatedKey}},
		"protocol-version (answered 2024-11-05) at initialize":                        {Code: ProtocolVersion, Stage: Initialize, Detail: Detail{Version: "2024-11-05"}},
		"protocol-version (server names 2025-03-26 2025-06-18) at discover":           {Code: ProtocolVersion, Stage: Discover, Detail: Detail{Versions: [MaxVersions]string{"2025-03-26", "2025-06-18"}}},
	} {
		if got := d.Title(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
