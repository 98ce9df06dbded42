package cli

import (
	"fmt"
	"os"

	"github.com/org/mcpeval-guidance/internal/check"
	"github.com/org/mcpeval-guidance/internal/crash"
	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/proc"
	"github.com/org/mcpeval-guidance/internal/render"
	"github.com/org/mcpeval-guidance/internal/result"
	"github.com/org/mcpeval-guidance/internal/wire"
)

// guidance is one check from raw options to the exit status.
func (a *app) guidance(raw options.Raw) int {
	opts, err := options.New(raw)
	if err != nil {
		return a.usage(err)
	}
	return a.check(opts)
}

func (a *app) check(opts options.Options) int {
	host := check.Host{Version: a.version, InContainer: inContainer()}
	if opts.Output.ShowServerStderr {
		host.Stderr = a.Err
	}
	if isTerminal(a.Err) {
		host.Progress = func(s observe.Session, o *observe.Observation) {
			fmt.Fprintf(a.Err, "%s: %s\n", render.Session(s), render.Progress(o))
		}
	}
	r, left, err := a.observe(opts, host)
	if err != nil {
		return a.interrupted()
	}
	for _, remark := range render.Remarks(r) {
		fmt.Fprintf(a.Err, "mcpeval: %s\n", remark)
	}
	err = a.render(r, opts.Output.Format)
	if rule, ok := wire.IsInvalid(err); ok {
		fmt.Fprintf(a.Err, "mcpeval: internal error: the report breaks its own schema (%s) and was not written; please report this at %s\n", rule, crash.Report)
		return result.ExitIncomplete
	}
	switch {
	case err != nil:
		return a.unwritten()
	case left > 0:
		fmt.Fprintf(a.Err, "mcpeval: %s\n", proc.LeftBehind(left))
		return result.ExitIncomplete
	}
	return r.ExitStatus()
}

// observe runs the check. Before it returns, what was started has ended, but
// for as many processes as left says.
func (a *app) observe(opts options.Options, host check.Host) (r result.Result, left int, err error) {
	sweep := proc.Adopt()
	defer func() { left = sweep() }()
	host.Sweep = func() { sweep() }
	r, err = check.Run(a.ctx, opts, host)
	return r, 0, err
}

func (a *app) render(r result.Result, format options.Format) error {
	var text []byte
	switch format {
	case options.JSON:
		return wire.Write(a.Out, r)
	case options.Markdown:
		text = render.Markdown(r)
	case options.SARIF:
		text = render.SARIF(r, nil, "")
	default:
		text = render.Text(r, isTerminal(a.Out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
	}
	_, err := a.Out.Write(text)
	return err
}

// demo checks the server inside this binary, started as any other.
func (a *app) demo(command demoCommand) int {
	raw := command.raw()
	if raw.Server == nil {
		label := "demo"
		raw.Server = &label
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(a.Err, "mcpeval: this binary's own path is not known, so the demo cannot start it")
		return result.ExitIncomplete
	}
	raw.Command = []string{self, "demo-server"}
	opts, err := options.New(raw)
	if err == nil {
		opts.Target.Entries, err = demoEntries(opts.Target.Entries[0], command.Entry)
	}
	if err != nil {
		return a.usage(err)
	}
	status := a.check(opts)
	if status <= result.ExitDefects {
		out := a.Out
		if opts.Output.Format != options.Text {
			out = a.Err
		}
		fmt.Fprintln(out, "\nCheck your own server: mcpeval guidance --server NAME -- COMMAND [ARG...]")
	}
	return status
}

// The demo server's configurations.
const (
	demoFull     = "full"
	demoReadOnly = "read-only"
)

// demoEntries are the demo's configurations of those names, or the plain server
// where none is asked for.
func demoEntries(plain options.Entry, keys []string) ([]options.Entry, error) {
	if len(keys) == 0 {
		return []options.Entry{plain}, nil
	}
	var entries []options.Entry
	seen := map[string]bool{}
	for _, key := range keys {
		launch := *plain.Launch
		switch key {
		case demoFull:
		case demoReadOnly:
			launch.Args = append(launch.Args[:len(launch.Args):len(launch.Args)], "--read-only")
		default:
			return nil, &options.Error{Option: "entry", Problem: "the demo has the entries " + demoFull + " and " + demoReadOnly}
		}
		if !seen[key] {
			entries = append(entries, options.Entry{Label: name.Name(key), Launch: &launch})
		}
		seen[key] = true
	}
	return entries, nil
}

// inContainer reports whether this is the Action's image, whose Dockerfile
// sets the variable: localhost is then not the runner, and the runtimes are
// known.
func inContainer() bool { return os.Getenv("MCPEVAL_IMAGE") != "" }
