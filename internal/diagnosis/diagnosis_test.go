package diagnosis

import (
	"regexp"
	"strings"
	"testing"
)

// contract has the codes of CONTRACT.md section 4.3, whose names are fixed.
var contract = []Code{
	"spawn-failed", "transport-closed", "timeout", "connection-refused", "http-status", "http-redirect", "content-type",
	"initialize-error", "protocol-version", "catalog-error", "entry-malformed", "tool-duplicate", "tool-limit",
	"cursor-malformed", "cursor-repeated", "page-limit", "message-malformed", "session-changed", "frame-limit", "roots-limit",
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
			if variant.When == 0 {
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
			d := Diagnosis{Code: entry.Code, When: variant.When}
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
		{"a later protocol", Diagnosis{Code: ProtocolVersion, When: LaterVersion}, []string{"2026-07-28", "2025-06-18"}, nil},
		{"an older version", Diagnosis{Code: ProtocolVersion, When: OlderVersion}, []string{"older", "2025-06-18"}, nil},
		{"a newer version", Diagnosis{Code: ProtocolVersion, When: NewerVersion}, []string{"newer", "2025-06-18"}, nil},
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
