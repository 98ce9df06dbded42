package mcp

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/strictjson"
)

// Version is the protocol version that is spoken, exactly and only.
const Version = "2025-06-18"

// maxRoots is how many roots/list requests are answered from one request of
// ours to the next (CONTRACT.md section 4.2).
const maxRoots = 8

// Fault is why an exchange cannot go on. It carries a fixed code and known
// circumstances, never a word of the server.
type Fault struct {
	Code diagnosis.Code
	When diagnosis.Circumstance
}

func (f *Fault) Error() string { return string(f.Code) }

func fault(code diagnosis.Code) *Fault { return &Fault{Code: code} }

// class is what an incoming text is.
type class int

const (
	noise        class = iota // no MCP message
	malformed                 // a message that breaks the rules
	tooDeep                   // a message nested deeper than strictjson reads
	response                  // an answer to the request that is due
	request                   // a request of the server
	notification              // a notification of the server
)

// message is one incoming message. Its slices point into the frame and are
// valid until the next one is read.
type message struct {
	class  class
	id     []byte // request: the id as it came
	method string // request
	result []byte // response: nil when it is an error
	err    []byte // response: nil when it is a result
}

// parse judges one incoming text as CONTRACT.md sections 4.3 and 4.6 say.
// pending is the id of our request that is due, 0 for none.
func parse(text []byte, pending int) message {
	v := strictjson.Examine(text)
	if !v.JSON {
		return message{class: noise}
	}
	text = text[strictjson.SkipBlanks(text, 0):]
	var m message
	var version, method []byte
	count := 0
	object := strictjson.Members(text, func(name string, value []byte) bool {
		count++
		switch name {
		case "jsonrpc":
			version = value
		case "id":
			m.id = value
		case "method":
			method = value
		case "result":
			m.result = value
		case "error":
			m.err = value
		}
		return true
	})
	if !object {
		return message{class: batchOrNoise(text)}
	}
	ours := pending != 0 && string(m.id) == strconv.Itoa(pending)
	answers := m.result != nil || m.err != nil
	if version == nil && !(ours && answers) {
		return message{class: noise}
	}
	if v.Deep {
		return message{class: tooDeep}
	}
	if !v.Clean() || string(version) != `"2.0"` && !isVersion2(version) {
		return message{class: malformed}
	}
	if method != nil {
		if !strictjson.IsString(method) || answers {
			return message{class: malformed}
		}
		m.method = strictjson.Decoded(method)
		switch {
		case m.id == nil:
			m.class = notification
		case strictjson.IsString(m.id) || strictjson.IsNumber(m.id):
			m.class = request
		default:
			m.class = malformed
		}
		return m
	}
	// JSON-RPC 2.0 section 5: an answer has our id and either member.
	if !ours || (m.result != nil) == (m.err != nil) {
		return message{class: malformed}
	}
	m.class = response
	return m
}

// isVersion2 takes "2.0" in any spelling of its string, such as with escapes.
func isVersion2(token []byte) bool {
	return strictjson.IsString(token) && strictjson.Decoded(token) == "2.0"
}

// batchOrNoise judges JSON that is no object: an array that holds a message
// is a batch, which 2025-06-18 does not have.
func batchOrNoise(text []byte) class {
	kind := noise
	strictjson.Elements(text, func(element []byte) bool {
		strictjson.Members(element, func(name string, _ []byte) bool {
			if name == "jsonrpc" {
				kind = malformed
			}
			return kind == noise
		})
		return kind == noise
	})
	return kind
}

// exchange is the state of one session's messages, the same for both
// transports.
type exchange struct {
	rootsDeclared bool
	roots         int // roots/list requests since our last request
	pending       int // the id of our request that is due, 0 for none
	lastID        int
	requests      int // requests of the server so far
}

// begin makes the next request of ours. params is a JSON object.
func (x *exchange) begin(method, params string) []byte {
	x.lastID++
	x.pending = x.lastID
	x.roots = 0
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}`, x.pending, method, params)
}

// take judges one incoming text. It returns the response that was due, or the
// reply that a request of the server wants, or neither.
func (x *exchange) take(text []byte) (m message, reply []byte, _ *Fault) {
	m = parse(text, x.pending)
	switch m.class {
	case malformed:
		return m, nil, fault(diagnosis.MessageMalformed)
	case tooDeep:
		return m, nil, fault(diagnosis.FrameLimit)
	case response:
		x.pending = 0
	case request:
		x.requests++
		reply, err := x.answer(m)
		return m, reply, err
	}
	return m, nil, nil
}

// answer makes the reply to a request of the server (CONTRACT.md section
// 4.2). The id goes back as it came, byte for byte.
func (x *exchange) answer(m message) ([]byte, *Fault) {
	body := `"error":{"code":-32601,"message":"Method not found"}`
	switch {
	case m.method == "ping":
		body = `"result":{}`
	case m.method == "roots/list" && x.rootsDeclared:
		if x.roots++; x.roots > maxRoots {
			return nil, fault(diagnosis.RootsLimit)
		}
		body = `"result":{"roots":[]}`
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,%s}`, m.id, body), nil
}

// Initialized is what the answer to initialize says, as far as discovery
// needs it.
type Initialized struct {
	HasTools     bool    // the tools capability is declared
	Instructions *string // nil when absent
}

// readInitialized judges the initialize result (CONTRACT.md section 4.3).
func readInitialized(m message) (Initialized, *Fault) {
	if m.err != nil {
		return Initialized{}, initializeRefused(m.err)
	}
	var out Initialized
	var version, capabilities, instructions []byte
	if !strictjson.Members(m.result, func(name string, value []byte) bool {
		switch name {
		case "protocolVersion":
			version = value
		case "capabilities":
			capabilities = value
		case "instructions":
			instructions = value
		}
		return true
	}) {
		return out, fault(diagnosis.InitializeError)
	}
	switch {
	case version == nil:
		return out, fault(diagnosis.InitializeError)
	case !strictjson.IsString(version):
		return out, fault(diagnosis.ProtocolVersion)
	case strictjson.Decoded(version) != Version:
		return out, otherVersion(strictjson.Decoded(version))
	case !strictjson.IsObject(capabilities) || instructions != nil && !strictjson.IsString(instructions):
		return out, fault(diagnosis.InitializeError)
	}
	wrong := false
	strictjson.Members(capabilities, func(name string, value []byte) bool {
		if name == "tools" {
			out.HasTools = true
			wrong = !strictjson.IsObject(value)
		}
		return true
	})
	if wrong {
		return out, fault(diagnosis.InitializeError)
	}
	if instructions != nil {
		text := strings.ToValidUTF8(strictjson.Decoded(instructions), "\uFFFD")
		out.Instructions = &text
	}
	return out, nil
}

// datePattern is how the protocol writes its versions; they sort as text.
var datePattern = regexp.MustCompile(`^20\d\d-\d\d-\d\d$`)

func otherVersion(version string) *Fault {
	f := fault(diagnosis.ProtocolVersion)
	if datePattern.MatchString(version) {
		f.When = diagnosis.NewerVersion
		if version < Version {
			f.When = diagnosis.OlderVersion
		}
	}
	return f
}

// JSON-RPC error codes that say that initialize, or its version, is not
// spoken.
const (
	codeMethodNotFound     = "-32601" // JSON-RPC 2.0 section 5.1; a server of 2026-07-28 has no initialize
	codeUnsupportedVersion = "-32022" // MCP 2026-07-28, UnsupportedProtocolVersionError
)

// initializeRefused tells an error that says "not this version" from any
// other. MCP 2025-06-18, lifecycle, answers an unsupported version with
// data.supported; SDKs also say it in words. The words go no further.
func initializeRefused(err []byte) *Fault {
	var code, data []byte
	message := ""
	strictjson.Members(err, func(name string, value []byte) bool {
		switch name {
		case "code":
			code = value
		case "message":
			if strictjson.IsString(value) {
				message = strings.ToLower(strictjson.Decoded(value))
			}
		case "data":
			data = value
		}
		return true
	})
	switch {
	case string(code) == codeMethodNotFound || string(code) == codeUnsupportedVersion:
		return &Fault{Code: diagnosis.ProtocolVersion, When: diagnosis.LaterVersion}
	case hasSupported(data) || unsupportedInWords(message):
		return fault(diagnosis.ProtocolVersion)
	}
	return fault(diagnosis.InitializeError)
}

func hasSupported(data []byte) bool {
	found := false
	strictjson.Members(data, func(name string, value []byte) bool {
		found = found || name == "supported" && value[0] == '['
		return true
	})
	return found
}

func unsupportedInWords(message string) bool {
	return (strings.Contains(message, "protocol version") || strings.Contains(message, "protocolversion")) &&
		(strings.Contains(message, "unsupported") || strings.Contains(message, "not supported"))
}

// Cursor is a page's nextCursor. It never leaves discovery.
type Cursor struct {
	token string   // as it came, for the next request
	Sum   [32]byte // of what it stands for, to know it again in little memory
}

// readPage judges a tools/list answer. It calls tool with each name in order,
// which may end the reading with a fault of its own.
func readPage(m message, tool func(name string) *Fault) (*Cursor, *Fault) {
	var tools, cursor []byte
	strictjson.Members(m.result, func(name string, value []byte) bool {
		switch name {
		case "tools":
			tools = value
		case "nextCursor":
			cursor = value
		}
		return true
	})
	var failed *Fault
	if !strictjson.Elements(tools, func(entry []byte) bool {
		name, ok := readEntry(entry)
		if !ok {
			failed = fault(diagnosis.EntryMalformed)
		} else {
			failed = tool(name)
		}
		return failed == nil
	}) {
		return nil, fault(diagnosis.CatalogError)
	}
	if failed != nil {
		return nil, failed
	}
	if cursor == nil {
		return nil, nil
	}
	if !strictjson.IsString(cursor) || len(cursor) == 2 {
		return nil, fault(diagnosis.CursorMalformed)
	}
	return &Cursor{token: string(cursor), Sum: sha256.Sum256([]byte(strictjson.Decoded(cursor)))}, nil
}

func readEntry(entry []byte) (name string, ok bool) {
	hasSchema := false
	object := strictjson.Members(entry, func(key string, value []byte) bool {
		switch key {
		case "name":
			if ok = strictjson.IsString(value); ok {
				name = strictjson.Decoded(value)
			}
		case "inputSchema":
			hasSchema = strictjson.IsObject(value)
		}
		return true
	})
	return name, object && ok && hasSchema
}

func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
