package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/org/mcpeval-guidance/internal/coherence"
	"github.com/org/mcpeval-guidance/internal/discover"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/report"
)

// guidance is one check from raw options to the exit status.
func (a *app) guidance(raw options.Raw) int {
	opts, err := options.New(raw)
	if err != nil {
		return a.usage(err)
	}
	return a.check(opts)
}

func (a *app) check(opts options.Options) (status int) {
	sweep := discover.Adopt()
	defer func() {
		if left := sweep(); left > 0 {
			fmt.Fprintf(a.Err, "mcpeval: %d processes that the server started are still running and could not be ended\n", left)
			status = report.ExitIncomplete
		}
	}()
	run := a.newRun(opts)
	run.Sweep = func() { sweep() }
	if opts.ShowServerStderr {
		run.Stderr = a.Err
	}
	if isTerminal(a.Err) {
		run.Progress = func(p profile.Profile, o *coherence.Observation) {
			fmt.Fprintf(a.Err, "%s: %s\n", p, progress(o))
		}
	}
	observations, err := run.Profiles(a.ctx)
	if err != nil {
		return a.interrupted()
	}
	r, _ := coherence.Check(observations, settings(opts, a.version))
	for _, remark := range r.Remarks() {
		fmt.Fprintf(a.Err, "mcpeval: %s\n", remark)
	}
	err = a.render(r, opts.Format)
	switch {
	case errors.Is(err, report.ErrInvalid):
		fmt.Fprintf(a.Err, "mcpeval: %s\n", brokenReport)
		return report.ExitIncomplete
	case err != nil:
		return a.unwritten()
	}
	return r.ExitStatus()
}

const brokenReport = "internal error: the report breaks its own schema and was not written; please report this"

func (a *app) newRun(opts options.Options) *discover.Run {
	return &discover.Run{Options: opts, Version: a.version, InContainer: inContainer()}
}

func settings(opts options.Options, version string) coherence.Settings {
	return coherence.Settings{
		Version:       version,
		Server:        opts.Server,
		SettleMS:      int(opts.Settle.Milliseconds()),
		TimeoutMS:     int(opts.Timeout.Milliseconds()),
		Jobs:          opts.Jobs,
		RequiredTools: opts.RequiredTools,
		Acknowledged:  opts.Acknowledged,
	}
}

func (a *app) render(r report.Report, format options.Format) error {
	var text []byte
	switch format {
	case options.JSON:
		return r.WriteJSON(a.Out)
	case options.Markdown:
		text = r.Markdown()
	default:
		text = r.Text(isTerminal(a.Out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
	}
	_, err := a.Out.Write(text)
	return err
}

// progress says in words what goes on in a profile.
func progress(o *coherence.Observation) string {
	switch {
	case o == nil:
		return "discovering"
	case o.Diagnosis != nil:
		return string(o.Diagnosis.Code)
	}
	return fmt.Sprintf("%d tools", len(o.Tools))
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
		return report.ExitIncomplete
	}
	raw.Command = []string{self, "demo-server"}
	opts, err := options.New(raw)
	if err != nil {
		return a.usage(err)
	}
	status := a.check(opts)
	if status <= report.ExitDefects {
		out := a.Out
		if opts.Format != options.Text {
			out = a.Err
		}
		fmt.Fprintln(out, "\nCheck your own server: mcpeval guidance --server NAME -- COMMAND [ARG...]")
	}
	return status
}

// inContainer reports whether this is the Action's image, whose Dockerfile
// sets the variable: localhost is then not the runner, and the runtimes are
// known.
func inContainer() bool { return os.Getenv("MCPEVAL_IMAGE") != "" }
