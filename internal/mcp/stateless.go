package mcp

import (
	"context"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/strictjson"
)

// stateless is the era without initialize: 2026-07-28 (CONTRACT.md section
// 4.8). Each request says by itself who asks.
type stateless struct{ client Client }

func (stateless) helloStage() diagnosis.Stage { return diagnosis.Discover }

func (e stateless) hello(ctx context.Context, s *Session) (Hello, *Fault) {
	m, f := s.call(ctx, s.begin("server/discover", `{`+e.meta()+`}`))
	if f != nil {
		return Hello{}, f
	}
	return e.readDiscovered(m)
}

// ready sends nothing: there is no session to begin.
func (stateless) ready(context.Context, *Session) *Fault { return nil }

func (e stateless) pageParams(cursor *Cursor) string {
	if cursor == nil {
		return `{` + e.meta() + `}`
	}
	return `{"cursor":` + cursor.token + `,` + e.meta() + `}`
}

// meta is the member _meta of every request's params.
func (e stateless) meta() string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + string(e.client.Protocol) +
		`","io.modelcontextprotocol/clientInfo":` + e.client.info() +
		`,"io.modelcontextprotocol/clientCapabilities":` + e.client.Capabilities + `}`
}

// readDiscovered judges the answer to server/discover.
func (e stateless) readDiscovered(m message) (Hello, *Fault) {
	if m.err != nil {
		return Hello{}, e.refusal(m, diagnosis.ProtocolVersion)
	}
	var supported, resultType []byte
	strictjson.Members(m.result, func(name string, value []byte) bool {
		switch name {
		case "supportedVersions":
			supported = value
		case "resultType":
			resultType = value
		}
		return true
	})
	if !isComplete(resultType) {
		return Hello{}, fault(diagnosis.ResultType)
	}
	hello, ok := readHello(m.result)
	spoken := false
	ok = strictjson.Elements(supported, func(version []byte) bool {
		ok = ok && strictjson.IsString(version)
		spoken = spoken || ok && strictjson.Decoded(version) == string(e.client.Protocol)
		return ok
	}) && ok
	switch {
	case !ok:
		return Hello{}, &Fault{Code: diagnosis.InitializeError, When: diagnosis.Stateless}
	case !spoken:
		return Hello{}, e.notSpoken(dates(supported), diagnosis.Detail{})
	}
	return hello, nil
}

// page judges an answer to tools/list: a nextCursor of null is the end, and an
// empty string a cursor like any other.
func (e stateless) page(m message) (tools, cursor []byte, _ *Fault) {
	if m.err != nil {
		return nil, nil, e.refusal(m, diagnosis.CatalogError)
	}
	tools, cursor, resultType := pageMembers(m.result)
	switch {
	case !isComplete(resultType):
		return nil, nil, fault(diagnosis.ResultType)
	case cursor == nil || string(cursor) == "null":
		return tools, nil, nil
	case !strictjson.IsString(cursor):
		return tools, nil, &Fault{Code: diagnosis.CursorMalformed, When: diagnosis.Stateless}
	}
	return tools, cursor, nil
}

// isComplete judges a resultType: input may not be asked for here.
func isComplete(resultType []byte) bool {
	return resultType == nil || strictjson.IsString(resultType) && strictjson.Decoded(resultType) == "complete"
}

// refusal says what an error answer means; other is the code for an error that
// has no meaning of its own.
func (e stateless) refusal(m message, other diagnosis.Code) *Fault {
	read := readError(m.err)
	f := &Fault{Code: other, Detail: read.detail()}
	switch read.code {
	case headerMismatch:
		f.Code = diagnosis.HeaderMismatch
	case capabilityRequired:
		f.Code = diagnosis.CapabilityNeeded
	case unsupportedVersion:
		f.Code = diagnosis.ProtocolVersion
	default:
		// Who must authorize first was told nothing of versions.
		if m.refused != nil && m.refused.When&diagnosis.Unauthorized != 0 {
			return m.refused
		}
	}
	if m.refused != nil {
		f.Detail.HTTPStatus = m.refused.Detail.HTTPStatus
	}
	if f.Code == diagnosis.ProtocolVersion {
		return e.notSpoken(read.named, f.Detail)
	}
	return f
}

// notSpoken is the fault of a server that does not speak the version.
func (e stateless) notSpoken(named []string, detail diagnosis.Detail) *Fault {
	copy(detail.Versions[:], named)
	if detail.Ask = newest(named, e.client.Protocol); detail.Ask == "" {
		detail.Ask = protocol.Default
	}
	return &Fault{Code: diagnosis.ProtocolVersion, When: diagnosis.Stateless, Detail: detail}
}
