// Package cli reads the command line, runs what it asks for, and returns the
// exit status. It is the only user of kong, and the place where the parts
// are put together; it must hold no rule about options, servers or reports.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/org/mcpeval-guidance/internal/action"
	"github.com/org/mcpeval-guidance/internal/crash"
	"github.com/org/mcpeval-guidance/internal/demo"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/protocol"
	"github.com/org/mcpeval-guidance/internal/result"
	"github.com/org/mcpeval-guidance/schema"
)

// Streams are the process's standard streams.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Interrupt is the cause with which the context is cancelled by a signal.
type Interrupt struct{ Signal os.Signal }

func (i Interrupt) Error() string { return "interrupted" }

// memoryLimit makes the collector work before the bound of 256 MiB that
// CONTRACT.md section 4.4 gives is reached.
const memoryLimit = 160 << 20 // bytes

// app is one invocation.
type app struct {
	Streams
	ctx     context.Context
	version string
}

// Run is the whole process, for main and for the tests that start it as a
// command: its signals, its streams, its arguments. It returns the exit status.
func Run() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endingSignals()...)
	go func() { cancel(Interrupt{Signal: <-signals}) }()
	// Notified, not ignored: a server must not inherit it. A write to a
	// broken pipe is then an error, and what runs is still cleaned up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	streams := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	if stdoutClosed() {
		streams.Out = closedStream{}
	}
	return Main(ctx, os.Args[1:], streams)
}

// closedStream is a stream that our caller closed.
type closedStream struct{}

func (closedStream) Write([]byte) (int, error) { return 0, os.ErrClosed }

// Main runs the command line and returns the exit status.
func Main(ctx context.Context, args []string, streams Streams) (status int) {
	defer func() {
		if c := crash.Recovered(recover()); c != nil {
			fmt.Fprintf(streams.Err, "mcpeval: internal error in %s; please report this and what you ran at %s\n", c, crash.Report)
			status = result.ExitIncomplete
		}
	}()
	// net/http logs what a server sends out of turn.
	log.SetOutput(io.Discard)
	debug.SetMemoryLimit(memoryLimit)
	a := &app{Streams: streams, ctx: ctx, version: version()}
	command, commandLine, err := a.parse(args)
	if err != nil {
		return a.usage(err)
	}
	switch command {
	case "":
		return result.ExitOK // --help or --version was printed
	case "guidance":
		return a.guidance(commandLine.Guidance.raw())
	case "demo":
		return a.demo(commandLine.Demo)
	case "demo-server":
		if demo.Serve(a.In, a.Out, commandLine.DemoServer.ReadOnly) != nil {
			return result.ExitIncomplete
		}
		return result.ExitOK
	case "schema guidance":
		return a.schema(commandLine.Schema.Guidance.Report)
	case "action":
		return action.Run(a.ctx, a.Out, a.version, a.interrupted)
	}
	return a.usage(errors.New("unknown command"))
}

// commandLine is the grammar. Every value is a plain text or a list of texts:
// kong's own types take 0x10, 1_500, 010 and split lists at commas.
type commandLine struct {
	Guidance   guidanceCommand `cmd:"" help:"Check a server: an agent that follows its instructions should never reach for a tool that its session does not expose."`
	Demo       demoCommand     `cmd:"" help:"Check a small server inside this binary, to see what the check finds."`
	Schema     schemaCommand   `cmd:"" help:"Print the JSON Schema of a report."`
	Action     struct{}        `cmd:"" help:"Run as a GitHub Action: read INPUT_* from the environment."`
	DemoServer demoServer      `cmd:"" name:"demo-server" hidden:"" help:"The server that demo checks, on stdin and stdout."`
	Version    bool            `help:"Print the version."`
}

type schemaCommand struct {
	Guidance struct {
		Report *string `arg:"" optional:"" name:"report" help:"v1 or v2; v1 without it."`
	} `cmd:"" help:"The schema (draft-07) of a report of guidance --format json: v1, or v2 of runs over several protocols or entries, or with wider references."`
}

type checkFlags struct {
	Server           *string  `placeholder:"NAME" help:"Label in the report: ${names}. Required, except for demo and for one entry of --config, whose key it is then."`
	Profile          []string `sep:"none" placeholder:"P" help:"Client profile to observe: none, roots, sampling, elicitation or all. Repeatable; all five without it."`
	Protocol         []string `sep:"none" placeholder:"V" help:"Protocol version to speak: ${protocols}. Nothing is negotiated. Repeatable; ${protocol} without it."`
	References       []string `sep:"none" placeholder:"R" help:"What counts as a reference: code (inline code in instructions, always), words (also plain names), descriptions (also in the tools' descriptions), unlisted (also names that no session lists) or all. Repeatable; code without it."`
	RequireTool      []string `sep:"none" placeholder:"T" help:"Tool that every session must list; else exit status 1. Repeatable; none without it."`
	SettleMs         *string  `placeholder:"N" help:"Wait between notifications/initialized and the first tools/list, 0 to 5000 ms; 1500 without it."`
	TimeoutMs        *string  `placeholder:"N" help:"Time for one session's whole discovery, the settle wait not counted, 1000 to 600000 ms; 60000 without it."`
	Jobs             *string  `placeholder:"N" help:"Sessions discovered at the same time, 1 to 5; without it 5 for a command and 1 for a URL. 1 is for a server that cannot run beside itself. More on one URL can hide a fault that no second look finds."`
	Format           *string  `placeholder:"F" help:"text, json, markdown or sarif; text without it."`
	Acknowledge      []string `sep:"none" placeholder:"T" help:"Tool whose candidates you have reviewed and keep. Repeatable; none without it."`
	ShowServerStderr bool     `help:"Pass a stdio server's stderr through, for debugging. It may hold anything; dropped without it."`
}

type guidanceCommand struct {
	checkFlags
	URL             *string  `name:"url" placeholder:"URL" help:"Streamable HTTP endpoint to check instead of a command."`
	AllowRemoteHTTP bool     `name:"allow-remote-http" help:"Permit a URL that is not loopback; it must be https. Not permitted without it."`
	Config          *string  `placeholder:"FILE" help:"Take the server from a configuration file, such as .mcp.json or .vscode/mcp.json."`
	Entry           []string `sep:"none" placeholder:"KEY" help:"Entry of --config, by its key in the file. Repeatable: several are configurations of one server, compared with each other. Without it, the entry named as --server, else the only one."`
	Command         []string `arg:"" optional:"" passthrough:"partial" sep:"none" help:"After --: the stdio server's command, started directly, without a shell."`
}

type demoCommand struct {
	checkFlags
	Entry []string `sep:"none" placeholder:"KEY" help:"Configuration of the demo server: full or read-only. Repeatable: both are compared with each other. The full one without it."`
}

type demoServer struct {
	ReadOnly bool `help:"The server's other configuration, without the tool that removes a note."`
}

func (guidanceCommand) Help() string {
	return `A stdio server:
  mcpeval guidance --server everything -- npx -y @modelcontextprotocol/server-everything

A Streamable HTTP server:
  mcpeval guidance --server mine --url http://127.0.0.1:3000/mcp

A server of a configuration file, or several configurations of one:
  mcpeval guidance --config .mcp.json --entry mine
  mcpeval guidance --server mine --config .mcp.json --entry mine --entry mine-read-only

MCPEVAL_HTTP_AUTHORIZATION, when set, is sent as the Authorization header.
MCPEVAL_HTTP_HEADERS has further headers, "Name: value", one a line.
MCPEVAL_INPUT_ID stands for ${input:ID} in a configuration file.

` + exitTable
}

func (demoCommand) Help() string {
	return `Try it with a gate:
  mcpeval demo --require-tool summarize-note

` + exitTable
}

const exitTable = `Exit status:
  0  discovery complete, every required tool present (candidates or not)
  1  discovery complete, a required tool is missing in a session
  2  invalid invocation, nothing was started
  3  discovery incomplete, or the report could not be written`

func (f checkFlags) raw() options.Raw {
	return options.Raw{
		Server:           f.Server,
		Profiles:         f.Profile,
		Protocols:        f.Protocol,
		References:       f.References,
		RequireTools:     f.RequireTool,
		SettleMS:         f.SettleMs,
		TimeoutMS:        f.TimeoutMs,
		Jobs:             f.Jobs,
		Format:           f.Format,
		Acknowledge:      f.Acknowledge,
		ShowServerStderr: f.ShowServerStderr,
		Authorization:    lookup("MCPEVAL_HTTP_AUTHORIZATION"),
		Headers:          lookup("MCPEVAL_HTTP_HEADERS"),
		Environ:          os.Environ(),
	}
}

func (c guidanceCommand) raw() options.Raw {
	raw := c.checkFlags.raw()
	raw.URL, raw.AllowRemoteHTTP, raw.Config, raw.Entries = c.URL, c.AllowRemoteHTTP, c.Config, c.Entry
	if c.Command != nil {
		raw.Command = c.Command[1:] // after the --
	}
	return raw
}

func lookup(name string) *string {
	if value, set := os.LookupEnv(name); set {
		return &value
	}
	return nil
}

// helpShown is how kong's exit after --help comes back to parse.
type helpShown struct{}

// parse returns the command's path, or "" when --help or --version has been
// answered. Its errors hold no word of the command line but a flag's name.
func (a *app) parse(args []string) (command string, line commandLine, err error) {
	defer func() {
		switch r := recover(); r.(type) {
		case nil:
		case helpShown:
			command, err = "", nil
		default:
			panic(r)
		}
	}()
	parser, err := kong.New(&line,
		kong.Name("mcpeval"),
		kong.Description("Finds MCP instructions that name tools their clients do not get."),
		kong.Writers(a.Out, a.Err),
		kong.Exit(func(int) { panic(helpShown{}) }),
		kong.ConfigureHelp(kong.HelpOptions{NoExpandSubcommands: false}),
		kong.Vars{"names": name.Grammar, "protocols": versions(), "protocol": string(protocol.Default)},
	)
	if err != nil {
		return "", line, err
	}
	if slices.Equal(args, []string{"--version"}) {
		fmt.Fprintf(a.Out, "mcpeval %s\n", a.version)
		return "", line, nil
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return "", line, usageError(err, args)
	}
	if line.Version {
		return "", line, errors.New("--version stands alone")
	}
	if c := line.Guidance.Command; c != nil && c[0] != "--" {
		return "", line, errors.New("unexpected argument: the server's command goes after --")
	}
	// kong lets a repeated flag win silently.
	seen := map[string]bool{}
	for _, step := range parsed.Path {
		if step.Flag == nil || step.Flag.IsCumulative() {
			continue
		}
		if seen[step.Flag.Name] {
			return "", line, fmt.Errorf("--%s: given twice", step.Flag.Name)
		}
		seen[step.Flag.Name] = true
	}
	command, _, _ = strings.Cut(parsed.Command(), " <")
	return command, line, nil
}

var safeFlag = regexp.MustCompile(`--[a-z][a-z-]{1,30}\b`)

// usageError replaces kong's words, which may echo a URL or a secret.
func usageError(err error, args []string) error {
	text := err.Error()
	flags := safeFlag.FindAllString(text, 2)
	flag := strings.Join(flags[:min(len(flags), 1)], "")
	switch {
	case strings.HasPrefix(text, "unknown flag") && strings.HasPrefix(args[0], "-"):
		return errors.New("flags go after the command, as in mcpeval guidance --server NAME")
	case strings.HasPrefix(text, "unknown flag") && len(flags) == 2:
		return fmt.Errorf("unknown flag %s, did you mean %s; the server's own flags go after --", flag, flags[1])
	case strings.HasPrefix(text, "unknown flag") && flag != "":
		return fmt.Errorf("unknown flag %s; the server's own flags go after --", flag)
	case strings.HasPrefix(text, "unknown flag"):
		return errors.New("unknown flag; the server's own flags go after --")
	case strings.HasPrefix(text, "unexpected argument"):
		return errors.New("unexpected argument; commands are guidance, schema guidance, demo and action, and a server's command goes after --")
	case strings.HasPrefix(text, "expected"):
		return errors.New("name a command: guidance, schema guidance, demo or action")
	case flag != "" && strings.Contains(text, "bool value"):
		return fmt.Errorf("%s: stands alone, without a value", flag)
	case flag != "":
		return fmt.Errorf("%s: needs a value of its own, as in %s=VALUE", flag, flag)
	}
	return errors.New("the command line cannot be read")
}

// words has the command line's word for each option, and for the advice that
// options leaves to a front end.
func words(option string) string {
	switch option {
	case "target":
		return "-- COMMAND, --url URL, --config FILE"
	case "command":
		return "COMMAND"
	case "write-command":
		return "write the server's command after --"
	case "several":
		return "give the flag once for each tool"
	case "http-authorization":
		return "MCPEVAL_HTTP_AUTHORIZATION"
	case "http-headers":
		return "MCPEVAL_HTTP_HEADERS"
	case "in-environment":
		return "in the environment"
	case "permit-remote":
		return "--allow-remote-http"
	case "few":
		return "fewer of --entry, --protocol or --profile"
	}
	return "--" + option
}

// usage reports an invalid invocation.
func (a *app) usage(err error) int {
	var invalid *options.Error
	message := err.Error()
	if errors.As(err, &invalid) {
		message = words(invalid.Option) + ": " + invalid.In(words)
	}
	fmt.Fprintf(a.Err, "mcpeval: %s\nsee mcpeval guidance --help\n", message)
	return result.ExitUsage
}

// schema prints the schema of a version of the report.
func (a *app) schema(version *string) int {
	switch {
	case version == nil || *version == "v1":
		return a.print(schema.Guidance)
	case *version == "v2":
		return a.print(schema.GuidanceV2)
	}
	return a.usage(errors.New("schema guidance: must be followed by v1, v2 or nothing"))
}

func versions() string {
	every := protocol.Every()
	texts := make([]string, len(every))
	for i, version := range every {
		texts[i] = string(version)
	}
	return strings.Join(texts[:len(texts)-1], ", ") + " or " + texts[len(texts)-1]
}

// print writes a whole document to stdout.
func (a *app) print(document []byte) int {
	if _, err := a.Out.Write(document); err != nil {
		return a.unwritten()
	}
	return result.ExitOK
}

func (a *app) unwritten() int {
	fmt.Fprintln(a.Err, "mcpeval: the output could not be written to stdout")
	return result.ExitIncomplete
}

// interrupted returns the exit status after a signal: 128 plus its number.
func (a *app) interrupted() int {
	var cause Interrupt
	if errors.As(context.Cause(a.ctx), &cause) {
		if number, ok := cause.Signal.(syscall.Signal); ok {
			return 128 + int(number)
		}
	}
	return result.ExitIncomplete
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// release is the version, set by the release build with -ldflags -X.
var release string

func version() string {
	if release != "" {
		return release
	}
	// As go install module@version has it.
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return "0.0.0-dev"
}
