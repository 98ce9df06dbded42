package mcp

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/strictjson"
)

// maxRoots is how many roots/list requests are answered from one request of
// ours to the next (CONTRACT.md section 4.2).
const maxRoots = 8

// Fault is why an exchange cannot go on. It carries a fixed code, known
// circumstances and what Detail allows, never a word of the server.
type Fault struct {
	Code   diagnosis.Code
	When   diagnosis.Circumstance
	Detail diagnosis.Detail
}

func (f *Fault) Error() string { return string(f.Code) }

func fault(code diagnosis.Code) *Fault { return &Fault{Code: code} }

func broke(rule diagnosis.Rule) *Fault {
	return &Fault{Code: diagnosis.MessageMalformed, Detail: diagnosis.Detail{Rule: rule}}
}

// class is what an incoming text is.
type class int

const (
	noise        class = iota // no MCP message
	malformed                 // a message that breaks the rules
	tooDeep                   // a message nested deeper than strictjson reads
	batch                     // an array that holds a message, or nothing
	response                  // an answer to the request that is due
	request                   // a request of the server
	notification              // a notification of the server
)

// message is one incoming message. Its slices point into the frame and are
// valid until the next one is read.
type message struct {
	class  class
	broken diagnosis.Rule // malformed: the rule
	id     []byte         // request: the id as it came
	method string         // request
	result []byte         // response: nil when it is an error
	err    []byte         // response: nil when it is a result
	// refused is what the status of an error answer over HTTP means by
	// itself, nil for an answer with status 200.
	refused *Fault
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
	object := strictjson.Members(text, func(name string, value []byte) bool {
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
		m.class = batchOrNoise(text)
		if m.class == batch && v.Deep {
			m.class = tooDeep
		}
		return m
	}
	ours := pending != 0 && string(m.id) == strconv.Itoa(pending)
	answers := m.result != nil || m.err != nil
	if version == nil && !(ours && answers) {
		return message{class: noise}
	}
	if v.Deep {
		return message{class: tooDeep}
	}
	wrong := func(rule diagnosis.Rule) message { return message{class: malformed, broken: rule} }
	switch {
	case !v.UTF8:
		return wrong(diagnosis.InvalidUTF8)
	case v.Repeated:
		return wrong(diagnosis.RepeatedKey)
	case string(version) != `"2.0"` && !isVersion2(version):
		return wrong(diagnosis.NotVersion2)
	case method != nil && !strictjson.IsString(method):
		return wrong(diagnosis.MethodNoString)
	case method != nil && answers:
		return wrong(diagnosis.MethodAndAnswer)
	case method != nil:
		m.method = strictjson.Decoded(method)
		switch {
		case m.id == nil:
			m.class = notification
		case strictjson.IsString(m.id) || strictjson.IsNumber(m.id):
			m.class = request
		default:
			return wrong(diagnosis.RequestID)
		}
		return m
	// JSON-RPC 2.0 section 5: an answer has our id and either member.
	case m.result != nil && m.err != nil:
		return wrong(diagnosis.ResultAndError)
	case !answers:
		return wrong(diagnosis.NeitherOfBoth)
	case !ours:
		return wrong(diagnosis.WrongID)
	}
	m.class = response
	return m
}

// isVersion2 takes "2.0" in any spelling of its string, such as with escapes.
func isVersion2(token []byte) bool {
	return strictjson.IsString(token) && strictjson.Decoded(token) == "2.0"
}

// batchOrNoise judges JSON that is no object: an array that holds a message,
// or nothing, may be a batch.
func batchOrNoise(text []byte) class {
	kind, empty := noise, true
	array := strictjson.Elements(text, func(element []byte) bool {
		empty = false
		strictjson.Members(element, func(name string, _ []byte) bool {
			if name == "jsonrpc" {
				kind = batch
			}
			return kind == noise
		})
		return kind == noise
	})
	if array && empty {
		return batch
	}
	return kind
}

// exchange is the state of one session's messages, the same for both
// transports.
type exchange struct {
	version       protocol.Version
	rootsDeclared bool
	roots         int    // roots/list requests since our last request
	pending       int    // the id of our request that is due, 0 for none
	method        string // of our last request
	lastID        int
	requests      int // requests of the server so far
}

func newExchange(client Client) *exchange {
	return &exchange{version: client.Protocol, rootsDeclared: client.DeclaresRoots}
}

// begin makes the next request of ours. params is a JSON object.
func (x *exchange) begin(method, params string) []byte {
	x.lastID++
	x.pending, x.method = x.lastID, method
	x.roots = 0
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}`, x.pending, method, params)
}

// take judges one incoming text. It returns the response that was due, or the
// replies that requests of the server want, or neither. Where the version has
// batches, one is taken element by element: the message is the response in it,
// if there is one.
func (x *exchange) take(text []byte) (m message, replies [][]byte, f *Fault) {
	m = parse(text, x.pending)
	if m.class != batch {
		reply, f := x.judge(m)
		if reply != nil {
			replies = [][]byte{reply}
		}
		return m, replies, f
	}
	empty := text[strictjson.SkipBlanks(text, strictjson.SkipBlanks(text, 0)+1)] == ']'
	switch {
	case empty && !x.version.HasBatches():
		return message{class: noise}, nil, nil
	case empty:
		return m, nil, broke(diagnosis.EmptyBatch)
	case !x.version.HasBatches():
		return m, nil, broke(diagnosis.Batch)
	}
	strictjson.Elements(text, func(element []byte) bool {
		one := parse(element, x.pending)
		var reply []byte
		switch one.class {
		case noise:
			f = broke(diagnosis.NotVersion2)
		case batch:
			f = broke(diagnosis.Batch)
		default:
			reply, f = x.judge(one)
		}
		if reply != nil {
			replies = append(replies, reply)
		}
		if one.class == response {
			m = one
		}
		return f == nil
	})
	return m, replies, f
}

// judge takes one message and returns the reply that it wants, if any.
func (x *exchange) judge(m message) (reply []byte, _ *Fault) {
	switch m.class {
	case malformed:
		return nil, broke(m.broken)
	case tooDeep:
		return nil, fault(diagnosis.FrameLimit)
	case response:
		x.pending = 0
	case request:
		x.requests++
		if x.version.Stateless() {
			return nil, fault(diagnosis.ServerRequest)
		}
		return x.answer(m)
	}
	return nil, nil
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

// readHello judges what the answers to initialize and server/discover have in
// common (CONTRACT.md section 4.3): capabilities and instructions.
func readHello(result []byte) (Hello, bool) {
	var hello Hello
	var capabilities, instructions []byte
	strictjson.Members(result, func(name string, value []byte) bool {
		switch name {
		case "capabilities":
			capabilities = value
		case "instructions":
			instructions = value
		}
		return true
	})
	ok := strictjson.IsObject(capabilities) && (instructions == nil || strictjson.IsString(instructions))
	strictjson.Members(capabilities, func(name string, value []byte) bool {
		if name == "tools" {
			hello.HasTools = true
			ok = ok && strictjson.IsObject(value)
		}
		return true
	})
	if !ok {
		return Hello{}, false
	}
	if instructions != nil {
		text := strings.ToValidUTF8(strictjson.Decoded(instructions), "\uFFFD")
		hello.Instructions = &text
	}
	return hello, true
}

// rpcError is a JSON-RPC error as far as it is looked at (JSON-RPC 2.0 section
// 5.1). Its words go no further.
type rpcError struct {
	code    int64 // diagnosis.NoCode where it is no integer
	message string
	named   []string // the dates of data.supported, at most maxNamed
	lists   bool     // data.supported is an array
}

// maxNamed is how many versions that a server names are looked at; far fewer
// exist.
const maxNamed = 64

// The errors of MCP 2026-07-28, and JSON-RPC's own for a method that is not
// there.
const (
	methodNotFound     = -32601
	headerMismatch     = -32020
	capabilityRequired = -32021
	unsupportedVersion = -32022
)

func readError(err []byte) rpcError {
	e := rpcError{code: diagnosis.NoCode}
	strictjson.Members(err, func(name string, value []byte) bool {
		switch name {
		case "code":
			if code, err := strconv.ParseInt(string(value), 10, 64); err == nil {
				e.code = code
			}
		case "message":
			if strictjson.IsString(value) {
				e.message = strings.ToLower(strictjson.Decoded(value))
			}
		case "data":
			strictjson.Members(value, func(name string, value []byte) bool {
				if name == "supported" {
					e.lists = value[0] == '['
					e.named = dates(value)
				}
				return true
			})
		}
		return true
	})
	return e
}

// detail is what may be said of the error.
func (e rpcError) detail() diagnosis.Detail {
	d := diagnosis.Detail{ErrorAnswer: true, RPCCode: e.code}
	copy(d.Versions[:], e.named)
	return d
}

// datePattern is how the protocol writes its versions; they sort as text.
var datePattern = regexp.MustCompile(`^20\d\d-\d\d-\d\d$`)

// dates returns the dates in an array of strings, each once.
func dates(array []byte) (dates []string) {
	strictjson.Elements(array, func(element []byte) bool {
		if strictjson.IsString(element) && len(element) < 64 {
			if date := strictjson.Decoded(element); datePattern.MatchString(date) && !slices.Contains(dates, date) {
				dates = append(dates, date)
			}
		}
		return len(dates) < maxNamed
	})
	return dates
}

// newest returns the newest named version that we speak and that was not the
// one asked for; empty where there is none.
func newest(named []string, asked protocol.Version) (best protocol.Version) {
	for _, date := range named {
		if v, ok := protocol.Parse(date); ok && v != asked && v > best {
			best = v
		}
	}
	return best
}

// Cursor is a page's nextCursor. It never leaves discovery.
type Cursor struct {
	token string   // as it came, for the next request
	Sum   [32]byte // of what it stands for, to know it again in little memory
}

// Tool is one entry of the catalog. Entry is its JSON and valid during the
// call that it is given to.
type Tool struct {
	Name  name.Name
	Entry []byte
	Index int // in the page, from 1
}

// readPage judges a tools/list answer. It calls tool with each entry in order,
// which may end the reading with a fault of its own.
func (s *Session) readPage(m message, tool func(Tool) *Fault) (*Cursor, *Fault) {
	tools, cursor, f := s.era.page(m)
	if tools == nil && f != nil {
		return nil, f
	}
	var failed *Fault
	index := 0
	if !strictjson.Elements(tools, func(entry []byte) bool {
		index++
		t, part := readEntry(entry)
		if part != "" {
			failed = &Fault{Code: diagnosis.EntryMalformed, Detail: diagnosis.Detail{Entry: index, Part: part}}
		} else {
			t.Index = index
			failed = tool(t)
		}
		return failed == nil
	}) {
		return nil, fault(diagnosis.CatalogError)
	}
	switch {
	case failed != nil:
		return nil, failed
	case f != nil || cursor == nil:
		return nil, f
	}
	return &Cursor{token: string(cursor), Sum: sha256.Sum256([]byte(strictjson.Decoded(cursor)))}, nil
}

// readEntry returns an entry's tool, or the part of it that is wrong.
func readEntry(entry []byte) (Tool, diagnosis.Part) {
	t := Tool{Entry: entry}
	named, hasSchema := false, false
	switch object := strictjson.Members(entry, func(key string, value []byte) bool {
		switch key {
		case "name":
			if strictjson.IsString(value) {
				t.Name, named = name.Parse(strictjson.Decoded(value))
			}
		case "inputSchema":
			hasSchema = strictjson.IsObject(value)
		}
		return true
	}); {
	case !object:
		return Tool{}, diagnosis.NoObject
	case !named:
		return Tool{}, diagnosis.EntryName
	case !hasSchema:
		return Tool{}, diagnosis.InputSchema
	}
	return t, ""
}

// pageMembers returns the members of a page that are judged, nil where there
// is none.
func pageMembers(result []byte) (tools, cursor, resultType []byte) {
	strictjson.Members(result, func(name string, value []byte) bool {
		switch name {
		case "tools":
			tools = value
		case "nextCursor":
			cursor = value
		case "resultType":
			resultType = value
		}
		return true
	})
	return tools, cursor, resultType
}

func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }
