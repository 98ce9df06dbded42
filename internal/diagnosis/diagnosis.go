// Package diagnosis is the one list of reasons why a session could not be
// discovered, each with a fixed code and fixed advice (CONTRACT.md section
// 4.3). A diagnosis has no field that could hold a word of a server, a URL or
// a command.
package diagnosis

import "github.com/org/mcpeval-guidance/internal/name"

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
	HeaderMismatch    Code = "header-mismatch"
	CapabilityNeeded  Code = "capability-required"
	ResultType        Code = "result-type"
	ServerRequest     Code = "server-request"
)

// Stage says how far a session's discovery had come.
type Stage string

// The stages, in order.
const (
	Start      Stage = "start"      // starting the command, reaching the URL's server
	Initialize Stage = "initialize" // initialize sent, its answer awaited
	Discover   Stage = "discover"   // server/discover sent, its answer awaited (2026-07-28)
	Settle     Stage = "settle"     // notifications/initialized and the settle window
	ToolsList  Stage = "tools/list" // a page of the catalog asked for
)

// Circumstance is a set of known facts that make the advice more specific.
type Circumstance uint

// The circumstances.
const (
	// Beside: other sessions were being discovered at the same time.
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
	// Npx: the command's program is npx.
	Npx
	// Stateless: the session's protocol version has no initialize.
	Stateless
)

// Diagnosis is why one session is incomplete. It is comparable: what ends many
// sessions alike can be said once.
type Diagnosis struct {
	Code   Code
	Stage  Stage
	When   Circumstance
	Detail Detail
}

// Entry is one row of the list: a code, what causes it and what to do.
type Entry struct {
	Code     Code
	Cause    string
	Advice   string
	Variants []Variant
}

// Variant is the advice that replaces an entry's own when all of its
// circumstances hold and the diagnosis has its detail. The first that fits
// counts.
type Variant struct {
	When   Circumstance
	Detail Detail
	Title  string // for the documentation: when it is given
	Advice string
}

// fits reports whether the variant is for the diagnosis.
func (v Variant) fits(d Diagnosis) bool {
	want, has := v.Detail, d.Detail
	return d.When&v.When == v.When &&
		(want.Rule == "" || want.Rule == has.Rule) &&
		(want.Start == "" || want.Start == has.Start) &&
		(want.Part == "" || want.Part == has.Part) &&
		(!want.ErrorAnswer || has.ErrorAnswer) &&
		(!want.Ended || has.Ended && want.ExitStatus == has.ExitStatus && want.Signal == has.Signal)
}

// runtimes is what the Action's image has (CONTRACT.md section 8).
const runtimes = "the image has node, npm, npx, uv, uvx, python3 and git, and a server that needs another runtime runs with the host action, the binary in a run: step, or an image built FROM this one"

// entries is the list. Texts are lower case and plain ASCII without a full
// stop at the end; Advice joins them.
var entries = []Entry{
	{SpawnFailed, "the server's command could not be started",
		"check that the command exists on this machine, is spelled right and may be executed", []Variant{
			{0, Detail{Start: NotExecutable}, "Not executable",
				"the command is there and may not be executed: give the file its executable bit (chmod +x), or start it with its interpreter, such as node or python3"},
			{0, Detail{Start: NoInterpreter}, "No such interpreter",
				"the command is there, and the interpreter that its first line names is not: install that, mend the line (a CR at its end is part of the name), or start the file with its interpreter, such as node or python3"},
			{0, Detail{Start: NoDirectory}, "No such directory",
				"the directory that the command is to start in does not exist: check working-directory, or the entry's cwd"},
			{0, Detail{Start: WrongFormat}, "Not a program of this system",
				"the file is no program for this system and processor: build it for them, or give a script a first line that names its interpreter"},
			{0, Detail{Start: TooLong}, "Too long",
				"the command with its arguments and environment is longer than the system takes: shorten them"},
			{0, Detail{Start: OutOfResources}, "Out of resources",
				"the system has no process, file or memory left for the command: end what else runs there, or use --jobs 1 (input jobs: 1)"},
			{InContainer, Detail{}, "In the Action's image", "check the command's spelling; " + runtimes},
		}},
	{TransportClosed, "the server went away before its answer",
		"run the command by hand and look at its stderr: it exits, or closes its output, before it has answered", []Variant{
			{OverHTTP, Detail{}, "Over HTTP",
				"look at the server's log, and at a proxy's before it: the connection, or the stream of the answer, ended before the answer was complete"},
			{NoNewline, Detail{}, "No newline at the end",
				"the last line had no newline at its end: every message is one line that ends in a newline; flush it before the server exits"},
			{Npx, Detail{Ended: true, ExitStatus: 127}, "Ended with 127, started with npx",
				"the command ended with 127: npx found the package but not its program, as in the package's own repository, where npx -y PACKAGE finds the folder itself; start it there with npx -y . after its build, or give the path of the built file to node"},
			{InContainer, Detail{Ended: true, ExitStatus: 127}, "Ended with 127, in the Action's image",
				"the command ended with 127: a program that it starts was not found; " + runtimes},
			{0, Detail{Ended: true, ExitStatus: 127}, "Ended with 127",
				"the command ended with 127: a program that it starts was not found; run it by hand and look at its stderr"},
			{0, Detail{Ended: true, ExitStatus: 126}, "Ended with 126",
				"the command ended with 126: a program that it starts may not be executed; check its executable bit"},
			{0, Detail{Ended: true, ExitStatus: 0}, "Ended with 0",
				"the command ended by itself, as if its work were done: a server runs until its stdin is closed; check that the command serves over stdio, and does not only print, install or start another process"},
			{0, Detail{Ended: true, Signal: 9}, "Ended by signal 9",
				"the command was killed: look for the memory that it needs and that the machine has"},
		}},
	{Timeout, "the session's time ran out",
		"the server did not answer in time: run it by hand, or allow more with --timeout-ms (input timeout-ms)", []Variant{
			{StandingStream, Detail{}, "Over HTTP, in a profile with roots",
				"the listing did not come and no request of the server arrived in a POST's own stream: the server probably sends its roots/list on a standing GET stream, which discovery does not open; send requests in the stream of the POST, or leave the roots and all profiles out"},
			{BrokenLines, Detail{}, "Messages spread over lines",
				"the server wrote lines on stdout that are no messages: a message must be one line of JSON each, without line breaks inside (no indented JSON)"},
			{OverHTTP, Detail{}, "Over HTTP",
				"the server did not answer in time: look at its log and at the URL's path, or allow more with --timeout-ms (input timeout-ms)"},
			{Noise, Detail{}, "Lines on stdout that are no messages",
				"the server wrote lines on stdout that are no messages before the time ran out: logs belong on stderr, and a message must be one line of JSON each"},
		}},
	{ConnectionRefused, "nothing listens at the URL",
		"check that the server is running, and the URL's host and port", []Variant{
			{InContainer | Loopback, Detail{}, "In the Action's image, with a loopback URL",
				"in the container, localhost is the container itself and not the runner: start the server with start-command, use the host action or the binary in a run: step, or run the image with docker run --network host"},
		}},
	{HostUnknown, "the URL's host name could not be resolved",
		"check the host name of the URL and this machine's network", nil},
	{NotLoopback, "localhost did not resolve to a loopback address",
		"use 127.0.0.1 or [::1] in the URL, or mend the hosts file", nil},
	{TLSFailed, "no trusted TLS connection could be made",
		"check the server's certificate: its name, its dates and its authority (SSL_CERT_FILE names a file of trusted authorities), and that the port speaks TLS", nil},
	{StartFailed, "the start-command could not be started, or it ended before its server answered",
		"run the start-command by hand: it must stay in the foreground and serve the URL", []Variant{
			{InContainer, Detail{}, "In the Action's image",
				"run the start-command by hand: it must stay in the foreground and serve the URL; " + runtimes},
		}},
	{StartTimeout, "the start-command's server did not answer in time",
		"check that the start-command serves the URL, its port and its path, or allow more with --timeout-ms (input timeout-ms)", nil},
	{PortTaken, "the URL's port accepted a connection before the start-command was started",
		"something else listens there and would be taken for the server: end it, or use another port in both url and start-command", nil},
	{HTTPStatus, "an answer with a status that discovery cannot use",
		"check the URL's path and the server's log: a request must be answered with 200", []Variant{
			{Unauthorized, Detail{}, "Status 401 or 403",
				"the server asks for authorization: set MCPEVAL_HTTP_AUTHORIZATION (input http-authorization) to the value of the Authorization header"},
			{NotFound, Detail{}, "Status 404 or 405",
				"check the URL's path: the MCP endpoint was not found there or does not take POST (SSE servers of 2024-11-05 are not supported)"},
		}},
	{HTTPRedirect, "an answer that redirects",
		"redirects are never followed: use the URL that the server redirects to, often with or without a slash at its end", nil},
	{ContentType, "an answer with a type that discovery cannot use",
		"the answer's Content-Type must be application/json or text/event-stream: check that the URL is the MCP endpoint", []Variant{
			{Compressed, Detail{}, "A compressed body",
				"the answer came with a Content-Encoding that was not asked for: the server, or a proxy before it, must respect Accept-Encoding: identity"},
		}},
	{InitializeError, "the first request was answered with an error or a malformed result",
		"look at the server's log: the initialize result must be an object with a protocolVersion, an object capabilities whose tools is an object where present, and instructions that are a string where present", []Variant{
			{0, Detail{ErrorAnswer: true}, "An error",
				"look at the server's log for the error with which it answered: initialize must be answered for every client"},
			{Stateless, Detail{}, "In 2026-07-28",
				"look at the server's log: the server/discover result must be an object with supportedVersions, an array of strings, an object capabilities whose tools is an object where present, and instructions that are a string where present"},
		}},
	{ProtocolVersion, "the server does not speak the protocol version that it was asked for",
		"the server must answer initialize with the protocolVersion that it was asked for", []Variant{
			{Stateless, Detail{}, "2026-07-28 was asked for",
				"this server does not speak 2026-07-28, or has it switched off over HTTP, as one SDK has by default"},
			{LaterVersion, Detail{}, "Only a later version",
				"the server speaks only a later protocol, which has no initialize"},
			{OlderVersion, Detail{}, "An older version",
				"the server answered an older protocol version than it was asked for: update its SDK, or check it as it is"},
			{NewerVersion, Detail{}, "A newer version",
				"the server answered a newer protocol version than it was asked for: it must answer with the version asked for where it speaks it"},
		}},
	{HeaderMismatch, "the server found that the headers of a request do not agree with its body",
		"look at the server, and at a proxy before it: MCP-Protocol-Version and Mcp-Method are sent as the body has them, and must arrive unchanged", nil},
	{CapabilityNeeded, "the server refuses clients without a capability that this profile does not declare",
		"answer server/discover and tools/list for every client, and require the capability where a tool needs it; or leave this profile out with --profile (input profiles)", nil},
	{ResultType, "a result is not complete",
		"server/discover and tools/list must be answered with a resultType of complete, or without one: neither may ask for input", nil},
	{ServerRequest, "the server sent a request, which 2026-07-28 does not have",
		"a server of 2026-07-28 never sends requests: what it needs of the client, it asks for in the result of a tool call", nil},
	{CatalogError, "tools/list was answered with an error or without a tools array",
		"look at the server's log: a server that declares the tools capability must answer tools/list with an array of tools", nil},
	{EntryMalformed, "an entry of the catalog is malformed",
		"every tool must be an object with a name of " + name.Grammar + " and an object inputSchema", []Variant{
			{0, Detail{Part: EntryName}, "The name", "the tool's name must be a string of " + name.Grammar},
			{0, Detail{Part: InputSchema}, "The inputSchema", "the tool must have an inputSchema that is an object: for a tool without parameters, of type object with no properties"},
		}},
	{ToolDuplicate, "the catalog lists two tools of one name",
		"give every tool a name of its own, across all pages", nil},
	{ToolLimit, "the catalog has more than 10,000 tools",
		"the check reads at most 10,000 tools: look for a listing that never ends", nil},
	{CursorMalformed, "a page has a nextCursor that is malformed",
		"leave nextCursor out on the last page: null, an empty string and other types are malformed", []Variant{
			{Stateless, Detail{}, "In 2026-07-28", "nextCursor must be a string, or null or left out on the last page"},
		}},
	{CursorRepeated, "a page has a nextCursor that was already given",
		"a cursor must lead to the next page: look for a listing that ignores the cursor it is sent", nil},
	{PageLimit, "the catalog has more than 20 pages",
		"the check reads at most 20 pages: use larger pages, or look for a listing that never ends", nil},
	{MessageMalformed, "a message breaks the rules of JSON-RPC",
		"each message must be one JSON object in valid UTF-8, with jsonrpc 2.0, no repeated key, no batch, and an answer must carry our id and either result or error", []Variant{
			{0, Detail{Rule: NotVersion2}, "Not JSON-RPC 2.0", "each message must have the member jsonrpc with the string 2.0"},
			{0, Detail{Rule: InvalidUTF8}, "Invalid UTF-8", "each message must be valid UTF-8: look for texts that are read in another encoding, or cut inside a character"},
			{0, Detail{Rule: RepeatedKey}, "A repeated key", "no object of a message may have one key twice, at any depth: look for JSON that is put together by hand"},
			{0, Detail{Rule: Batch}, "A batch", "each message must be sent by itself: only 2025-03-26 has batches, flat arrays of messages"},
			{0, Detail{Rule: EmptyBatch}, "An empty batch", "an array of messages must hold at least one: leave the empty one out"},
			{0, Detail{Rule: WrongID}, "A wrong id", "an answer must carry the id of our request, as the number that it is, and be sent once"},
			{0, Detail{Rule: ResultAndError}, "Both a result and an error", "an answer must have either result or error: leave the other one out, null counts as there"},
			{0, Detail{Rule: NeitherOfBoth}, "Neither a result nor an error", "an answer must have either result or error: a result without content is an empty object"},
			{0, Detail{Rule: MethodNoString}, "A method that is no string", "the method of a request or notification must be a string"},
			{0, Detail{Rule: MethodAndAnswer}, "A method in an answer", "a message with a method is a request or notification and has neither result nor error: leave method out of answers"},
			{0, Detail{Rule: RequestID}, "A request's id", "the id of a request must be a string or a number: a notification leaves id out, null counts as there"},
			{0, Detail{Rule: NoMessage}, "No message", "each body and each event's data must be one JSON-RPC message: check that the URL is the MCP endpoint, and that nothing else is written there"},
			{0, Detail{Rule: NoAnswer}, "No answer", "a body of type application/json must hold the answer to the request that it is for: notifications and requests need a text/event-stream"},
		}},
	{SessionChanged, "the session id changed in mid-session",
		"one session must keep one Mcp-Session-Id, of visible ASCII characters", nil},
	{FrameLimit, "a message or the whole output is larger than is read",
		"a message may have 8 MiB and limited nesting, all output of one session 64 MiB: look for output that never ends, or shorten descriptions and schemas", nil},
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
		if variant.fits(d) {
			advice = variant.Advice
			break
		}
	}
	if ask := string(d.Detail.Ask); ask != "" {
		advice += "; ask it for " + ask + " with --protocol " + ask + " (input protocols)"
	}
	// CONTRACT.md section 4.5: side by side is our choice, so its remedy is
	// named.
	if d.When&Beside != 0 && (d.Code == Timeout || d.Code == TransportClosed) {
		advice += "; other sessions ran at the same time: if the server cannot run beside itself, use --jobs 1 (input jobs: 1)"
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
