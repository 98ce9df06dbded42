package mcp

import (
	"context"
	"strings"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/strictjson"
)

// handshake is the era of initialize: the versions up to 2025-11-25.
type handshake struct{ client Client }

func (handshake) helloStage() diagnosis.Stage { return diagnosis.Initialize }

func (e handshake) hello(ctx context.Context, s *Session) (Hello, *Fault) {
	m, f := s.call(ctx, s.begin("initialize", `{"protocolVersion":"`+string(e.client.Protocol)+`","capabilities":`+
		e.client.Capabilities+`,"clientInfo":`+e.client.info()+`}`))
	if f != nil {
		return Hello{}, f
	}
	return e.readInitialized(m)
}

func (handshake) ready(ctx context.Context, s *Session) *Fault {
	return s.notify(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
}

func (handshake) pageParams(cursor *Cursor) string {
	if cursor == nil {
		return "{}"
	}
	return `{"cursor":` + cursor.token + `}`
}

// page judges an answer to tools/list (CONTRACT.md section 4.3): a nextCursor
// is left out or a non-empty string.
func (handshake) page(m message) (tools, cursor []byte, _ *Fault) {
	if m.err != nil {
		return nil, nil, &Fault{Code: diagnosis.CatalogError, Detail: readError(m.err).detail()}
	}
	tools, cursor, _ = pageMembers(m.result)
	if cursor != nil && (!strictjson.IsString(cursor) || len(cursor) == len(`""`)) {
		return tools, nil, fault(diagnosis.CursorMalformed)
	}
	return tools, cursor, nil
}

// readInitialized judges the answer to initialize (CONTRACT.md section 4.3).
func (e handshake) readInitialized(m message) (Hello, *Fault) {
	if m.err != nil {
		f := e.refusal(m.err)
		if m.refused == nil {
			return Hello{}, f
		}
		if f.Code != diagnosis.ProtocolVersion {
			return Hello{}, m.refused
		}
		f.Detail.HTTPStatus = m.refused.Detail.HTTPStatus
		return Hello{}, f
	}
	var version []byte
	strictjson.Members(m.result, func(name string, value []byte) bool {
		if name == "protocolVersion" {
			version = value
		}
		return true
	})
	switch {
	case version == nil:
		return Hello{}, fault(diagnosis.InitializeError)
	case !strictjson.IsString(version):
		return Hello{}, fault(diagnosis.ProtocolVersion)
	case strictjson.Decoded(version) != string(e.client.Protocol):
		return Hello{}, e.otherVersion(strictjson.Decoded(version))
	}
	hello, ok := readHello(m.result)
	if !ok {
		return Hello{}, fault(diagnosis.InitializeError)
	}
	return hello, nil
}

// otherVersion is the fault of an answer with another version.
func (e handshake) otherVersion(answered string) *Fault {
	f := fault(diagnosis.ProtocolVersion)
	if !datePattern.MatchString(answered) {
		return f
	}
	f.When = diagnosis.NewerVersion
	if answered < string(e.client.Protocol) {
		f.When = diagnosis.OlderVersion
	}
	f.Detail.Version = answered
	f.Detail.Ask = newest([]string{answered}, e.client.Protocol)
	return f
}

// refusal tells an error that says "not this version" from any other. MCP
// 2025-06-18, lifecycle, answers an unsupported version with data.supported;
// SDKs also say it in words; a server of 2026-07-28 has no initialize.
func (e handshake) refusal(err []byte) *Fault {
	read := readError(err)
	f := &Fault{Code: diagnosis.ProtocolVersion, Detail: read.detail()}
	f.Detail.Ask = newest(read.named, e.client.Protocol)
	switch {
	case read.code == methodNotFound || read.code == unsupportedVersion:
		if f.Detail.Ask == "" || f.Detail.Ask.Stateless() {
			f.When, f.Detail.Ask = diagnosis.LaterVersion, protocol.V20260728
		}
	case read.lists || unsupportedInWords(read.message):
	default:
		f.Code, f.Detail.Ask = diagnosis.InitializeError, ""
	}
	return f
}

func unsupportedInWords(message string) bool {
	return (strings.Contains(message, "protocol version") || strings.Contains(message, "protocolversion")) &&
		(strings.Contains(message, "unsupported") || strings.Contains(message, "not supported"))
}
