package diagnosis

import (
	"fmt"
	"math"
	"strings"

	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/protocol"
)

// MaxVersions is how many of the versions that a server names are kept.
const MaxVersions = 8

// NoCode is the RPCCode of an error answer whose code is no integer.
const NoCode = math.MinInt64

// Detail is what stands beside a code and tells its cause (CONTRACT.md section
// 4.3): numbers, valid names, dates and fixed words, never a word of the
// server. Two causes are one where they are equal.
type Detail struct {
	HTTPStatus int // of the answer; 0: not known

	Ended      bool // the command itself had ended, as the next two say
	ExitStatus int
	Signal     int // that ended it; 0: none
	Noise      int // lines that it had printed and that were no messages

	Start StartError // why it could not be started

	ErrorAnswer bool  // our request was answered with a JSON-RPC error
	RPCCode     int64 // of that error; NoCode where it is no integer

	Page, Entry int // of the catalog, from 1; 0: not known
	Part        Part
	Tool        name.Name // the second one of its name

	Rule Rule // that a message broke

	Version  string              // that was answered, where it is a date
	Versions [MaxVersions]string // that the server names, where they are dates
	Ask      protocol.Version    // what to ask the server for instead; empty: not known
}

// IsErrorAnswer reports whether our request was answered with a JSON-RPC error.
func (d Detail) IsErrorAnswer() bool { return d.ErrorAnswer }

// StartError is the operating system's error at a start, as one of a fixed
// list.
type StartError string

// The errors at a start.
const (
	NoProgram      StartError = "not found"
	NotExecutable  StartError = "not executable"
	NoInterpreter  StartError = "no such interpreter" // the file is there; what its first line, or its loader, names is not
	NoDirectory    StartError = "no such directory"
	WrongFormat    StartError = "not a program of this system"
	TooLong        StartError = "command too long"
	OutOfResources StartError = "out of resources"
)

// Part is what is wrong with an entry of the catalog.
type Part string

// The parts of an entry.
const (
	NoObject    Part = "no object"
	EntryName   Part = "name"
	InputSchema Part = "inputSchema"
)

// Rule is what a malformed message broke.
type Rule string

// The rules of messages (CONTRACT.md section 4.3).
const (
	NotVersion2     Rule = "not JSON-RPC 2.0"
	InvalidUTF8     Rule = "invalid UTF-8"
	RepeatedKey     Rule = "repeated key"
	Batch           Rule = "batch"
	EmptyBatch      Rule = "empty batch"
	WrongID         Rule = "wrong id"
	ResultAndError  Rule = "result and error"
	NeitherOfBoth   Rule = "neither result nor error"
	MethodNoString  Rule = "method not a string"
	MethodAndAnswer Rule = "method beside result or error"
	RequestID       Rule = "id of a request not a string or number"
	NoMessage       Rule = "no JSON-RPC message"
	NoAnswer        Rule = "no answer in the body"
)

// Title says what happened in one line of plain ASCII:
// "http-status 503 at initialize", "spawn-failed (not found) at start",
// "transport-closed (exit status 127) at initialize".
func (d Diagnosis) Title() string {
	title := string(d.Code)
	var parts []string
	add := func(format string, values ...any) { parts = append(parts, fmt.Sprintf(format, values...)) }
	e := d.Detail
	switch {
	case e.HTTPStatus == 0:
	case d.Code == HTTPStatus || d.Code == HTTPRedirect:
		title += fmt.Sprintf(" %d", e.HTTPStatus)
	default:
		add("HTTP status %d", e.HTTPStatus)
	}
	switch {
	case e.Signal != 0:
		add("signal %d", e.Signal)
	case e.Ended:
		add("exit status %d", e.ExitStatus)
	}
	switch {
	case e.Noise == 1:
		add("after 1 line that was no message")
	case e.Noise > 1:
		add("after %d lines that were no messages", e.Noise)
	}
	if e.Start != "" {
		add("%s", e.Start)
	}
	switch {
	case e.Entry > 0:
		add("page %d, entry %d", e.Page, e.Entry)
	case e.Page > 1:
		add("page %d", e.Page)
	}
	switch {
	case e.ErrorAnswer && e.RPCCode == NoCode:
		add("JSON-RPC error without a code")
	case e.ErrorAnswer:
		add("JSON-RPC error %d", e.RPCCode)
	}
	if e.Part != "" {
		add("%s", e.Part)
	}
	if e.Tool != "" {
		add("%s", e.Tool)
	}
	if e.Rule != "" {
		add("%s", e.Rule)
	}
	if e.Version != "" {
		add("answered %s", e.Version)
	}
	if named := strings.TrimSpace(strings.Join(e.Versions[:], " ")); named != "" {
		add("server names %s", named)
	}
	if len(parts) > 0 {
		title += " (" + strings.Join(parts, ", ") + ")"
	}
	return title + " at " + string(d.Stage)
}
