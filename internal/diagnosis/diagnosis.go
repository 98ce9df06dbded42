// Package diagnosis is the one list of reasons why a profile could not be
// discovered, each with a fixed code and fixed advice. A diagnosis has no
// field that could hold a word of a server, a URL or a command.
package diagnosis

// Code names a cause. Codes are public interface: once released they keep
// their meaning.
type Code string

// The causes. The comment of each is in the table below, with its advice.
const (
	SpawnFailed       Code = "spawn-failed"
	TransportClosed   Code = "transport-closed"
	Timeout           Code = "timeout"
	ConnectionRefused Code = "connection-refused"
	HostUnknown       Code = "host-unknown"
	NotLoopback       Code = "not-loopback"
	TLSFailed         Code = "tls-failed"
	StartFailed       Code = "start-failed"
	StartTimeout      Code = "start-timeout"
	PortTaken         Code = "port-taken"
	HTTPStatus        Code = "http-status"
	HTTPRedirect      Code = "http-redirect"
	ContentType       Code = "content-type"
	InitializeError   Code = "initialize-error"
	ProtocolVersion   Code = "protocol-version"
	CatalogError      Code = "catalog-error"
	EntryMalformed    Code = "entry-malformed"
	ToolDuplicate     Code = "tool-duplicate"
	ToolLimit         Code = "tool-limit"
	CursorMalformed   Code = "cursor-malformed"
	CursorRepeated    Code = "cursor-repeated"
	PageLimit         Code = "page-limit"
	MessageMalformed  Code = "message-malformed"
	SessionChanged    Code = "session-changed"
	FrameLimit        Code = "frame-limit"
	RootsLimit        Code = "roots-limit"
	FindingLimit      Code = "finding-limit"
	CatalogUnstable   Code = "catalog-unstable"
)

// Stage says how far a profile's discovery had come.
type Stage string

// The stages, in order.
const (
	Start      Stage = "start"      // starting the command, reaching the URL's server
	Initialize Stage = "initialize" // initialize sent, its answer awaited
	Settle     Stage = "settle"     // notifications/initialized and the settle window
	ToolsList  Stage = "tools/list" // a page of the catalog asked for
)

// Circumstance is a set of known facts that make the advice more specific.
type Circumstance uint

// The circumstances.
const (
	// Beside: other profiles were being discovered at the same time.
	Beside Circumstance = 1 << iota
	// Noise: lines that were no MCP messages came on stdout.
	Noise
	// BrokenLines: some of them looked like a message spread over lines.
	BrokenLines
	// InContainer: we run in the Action's image.
	InContainer
	// Loopback: the endpoint is on this host.
	Loopback
	// StandingStream: over HTTP, roots were declared, the listing did not
	// come and no request of the server arrived.
	StandingStream
	// LaterVersion: the server speaks only a protocol without initialize.
	LaterVersion
	// OlderVersion: the server answered an older protocol version.
	OlderVersion
	// NewerVersion: it answered a newer one than it was asked for.
	NewerVersion
	// Unauthorized: the status was 401 or 403.
	Unauthorized
	// NotFound: the status was 404 or 405.
	NotFound
	// Compressed: the body had a content encoding that was not asked for.
	Compressed
	// NoNewline: the last line before the end had no newline.
	NoNewline
	// OverHTTP: the server is reached by a URL.
	OverHTTP
)

// Diagnosis is why one profile is incomplete.
type Diagnosis struct {
	Code  Code
	Stage Stage
	When  Circumstance
}

// Entry is one row of the list: a code, what causes it and what to do.
type Entry struct {
	Code     Code
	Cause    string
	Advice   string
	Variants []Variant
}

// Variant is the advice that replaces an entry's own when all of its
// circumstances hold.
type Variant struct {
	When   Circumstance
	Advice string
}

// entries is the list. Texts are lower case and plain ASCII without a full
// stop at the end; Advice joins them.
var entries = []Entry{
	{SpawnFailed, "the server's command could not be started",
		"check that the command exists on this machine, is spelled right and may be executed", []Variant{
			{InContainer, "check the command's spelling; the image has node, npm, npx, uv, uvx, python3 and git, and a server that needs another runtime runs with the host action, the binary in a run: step, or an image built FROM this one"},
		}},
	{TransportClosed, "the server went away before its answer",
		"run the command by hand and look at its stderr: it exits, or closes its output, before it has answered", []Variant{
			{OverHTTP, "look at the server's log, and at a proxy's before it: the connection, or the stream of the answer, ended before the answer was complete"},
			{NoNewline, "the last line had no newline at its end: every message is one line that ends in a newline; flush it before the server exits"},
		}},
	{Timeout, "the profile's time ran out",
		"the server did not answer in time: run it by hand, or allow more with --timeout-ms (input timeout-ms)", []Variant{
			{StandingStream, "the listing did not come and no request of the server arrived in a POST's own stream: the server probably sends its roots/list on a standing GET stream, which discovery does not open; send requests in the stream of the POST, or leave the roots and all profiles out"},
			{BrokenLines, "the server wrote lines on stdout that are no messages: a message must be one line of JSON each, without line breaks inside (no indented JSON)"},
			{OverHTTP, "the server did not answer in time: look at its log and at the URL's path, or allow more with --timeout-ms (input timeout-ms)"},
			{Noise, "the server wrote lines on stdout that are no messages before the time ran out: logs belong on stderr, and a message must be one line of JSON each"},
		}},
	{ConnectionRefused, "nothing listens at the URL",
		"check that the server is running, and the URL's host and port", []Variant{
			{InContainer | Loopback, "in the container, localhost is the container itself and not the runner: start the server with start-command, use the host action or the binary in a run: step, or run the image with docker run --network host"},
		}},
	{HostUnknown, "the URL's host name could not be resolved",
		"check the host name of the URL and the runner's network", nil},
	{NotLoopback, "localhost did not resolve to a loopback address",
		"use 127.0.0.1 or [::1] in the URL, or mend the hosts file", nil},
	{TLSFailed, "no trusted TLS connection could be made",
		"check the server's certificate: its name, its dates and its authority (SSL_CERT_FILE names a file of trusted authorities), and that the port speaks TLS", nil},
	{StartFailed, "the start-command could not be started, or it ended before its port accepted a connection",
		"run the start-command by hand: it must stay in the foreground and serve the URL; the image has node, npm, npx, uv, uvx, python3 and git", nil},
	{StartTimeout, "the start-command's server did not listen in time",
		"check that the start-command serves the port of the URL, or allow more with --timeout-ms (input timeout-ms)", nil},
	{PortTaken, "the URL's port accepted a connection before the start-command was started",
		"something else listens there and would be taken for the server: end it, or use another port in both url and start-command", nil},
	{HTTPStatus, "an answer with a status that discovery cannot use",
		"check the URL's path and the server's log: a request must be answered with 200", []Variant{
			{Unauthorized, "the server asks for authorization: set MCPEVAL_HTTP_AUTHORIZATION (input http-authorization) to the value of the Authorization header"},
			{NotFound, "check the URL's path: the MCP endpoint was not found there or does not take POST (SSE servers of 2024-11-05 are not supported)"},
		}},
	{HTTPRedirect, "an answer that redirects",
		"redirects are never followed: use the URL that the server redirects to, often with or without a slash at its end", nil},
	{ContentType, "an answer with a type that discovery cannot use",
		"the answer's Content-Type must be application/json or text/event-stream: check that the URL is the MCP endpoint", []Variant{
			{Compressed, "the answer came with a Content-Encoding that was not asked for: the server, or a proxy before it, must respect Accept-Encoding: identity"},
		}},
	{InitializeError, "initialize was answered with an error or a malformed result",
		"look at the server's log: the initialize result must be an object with a protocolVersion, an object capabilities whose tools is an object where present, and instructions that are a string where present", nil},
	{ProtocolVersion, "the server does not speak protocol version 2025-06-18",
		"the server must answer initialize with protocolVersion 2025-06-18", []Variant{
			{LaterVersion, "the server speaks only a later protocol without initialize (2026-07-28), which this check cannot observe yet: let it answer clients of 2025-06-18 as well"},
			{OlderVersion, "the server speaks only an older protocol version than 2025-06-18: update its SDK, so that it answers with the version it was asked for"},
			{NewerVersion, "the server answered a newer protocol version than the 2025-06-18 it was asked for: it must answer with the version asked for where it speaks it"},
		}},
	{CatalogError, "tools/list was answered with an error or without a tools array",
		"look at the server's log: a server that declares the tools capability must answer tools/list with an array of tools", nil},
	{EntryMalformed, "an entry of the catalog is malformed",
		"every tool must be an object with a name of 1 to 128 characters out of A-Z a-z 0-9 _ . : - and an object inputSchema", nil},
	{ToolDuplicate, "the catalog lists two tools of one name",
		"give every tool a name of its own, across all pages", nil},
	{ToolLimit, "the catalog has more than 10,000 tools",
		"the check reads at most 10,000 tools: look for a listing that never ends", nil},
	{CursorMalformed, "a page has a nextCursor that is not a non-empty string",
		"leave nextCursor out on the last page: null, an empty string and other types are malformed", nil},
	{CursorRepeated, "a page has a nextCursor that was already given",
		"a cursor must lead to the next page: look for a listing that ignores the cursor it is sent", nil},
	{PageLimit, "the catalog has more than 20 pages",
		"the check reads at most 20 pages: use larger pages, or look for a listing that never ends", nil},
	{MessageMalformed, "a message breaks the rules of JSON-RPC",
		"each message must be one JSON object in valid UTF-8, with jsonrpc 2.0, no repeated key, no batch, and an answer must carry our id and either result or error", nil},
	{SessionChanged, "the session id changed in mid-session",
		"one session must keep one Mcp-Session-Id, of visible ASCII characters", nil},
	{FrameLimit, "a message or the whole output is larger than is read",
		"a message may have 8 MiB and limited nesting, all output of one profile 64 MiB: look for output that never ends, or shorten descriptions and schemas", nil},
	{RootsLimit, "the server asked for roots/list again and again",
		"at most eight roots/list requests are answered between two of our requests: look for a loop in the server", nil},
	{FindingLimit, "there are more findings than a report can have",
		"the texts name far more tools than a client can be told of: look for a generated text, or compare fewer sessions or references", nil},
	{CatalogUnstable, "seen twice alone, the session listed different tools or gave different instructions",
		"the same client must get the same tools and instructions each time: look for a listing that depends on the time, on an earlier start or on what else runs", nil},
}

// Entries returns the whole list, in the order of the documentation.
func Entries() []Entry { return entries }

// Advice returns the fixed advice for the diagnosis, one line of plain ASCII.
func (d Diagnosis) Advice() string {
	entry := d.entry()
	advice := entry.Advice
	for _, variant := range entry.Variants {
		if d.When&variant.When == variant.When {
			advice = variant.Advice
			break
		}
	}
	// CONTRACT 4.5: side by side is our choice, so its remedy is named.
	if d.When&Beside != 0 && (d.Code == Timeout || d.Code == TransportClosed) {
		advice += "; other profiles ran at the same time: if the server cannot run beside itself, use --jobs 1 (input jobs: 1)"
	}
	return advice
}

// Cause returns the fixed sentence that says what happened.
func (d Diagnosis) Cause() string { return d.entry().Cause }

func (d Diagnosis) entry() Entry {
	for _, entry := range entries {
		if entry.Code == d.Code {
			return entry
		}
	}
	return Entry{Code: d.Code, Cause: "an unknown cause"}
}
