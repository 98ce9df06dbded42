// Package check is one check, from valid options to a result: what the command
// line and the Action do between their own first and last steps. It must never
// print.
package check

import (
	"context"
	"io"

	"github.com/org/mcpeval-guidance/internal/discover"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/proc"
	"github.com/org/mcpeval-guidance/internal/reference"
	"github.com/org/mcpeval-guidance/internal/result"
)

// Host is where a check runs, and whom it tells.
type Host struct {
	Version     string     // of mcpeval
	Stderr      io.Writer  // where a server's stderr goes; nil drops it
	User        *proc.User // whom a server runs as; nil: as we do
	InContainer bool       // in the Action's image, where localhost is not the runner
	// Progress, if set, is told when a session begins (nil) and ends.
	Progress func(observe.Session, *observe.Observation)
	// Sweep, if set, ends what servers left running outside their process
	// groups.
	Sweep func()
	// Places says that the places of names are kept, to find their lines.
	Places bool
}

// Run observes every session and compares them. The error is ctx's, when that
// ended the run.
func Run(ctx context.Context, opts options.Options, host Host) (result.Result, error) {
	texts := reference.NewExtractor(reference.Want{
		Words:        opts.References.Words || opts.References.Descriptions,
		Descriptions: opts.References.Descriptions,
		Unlisted:     opts.References.Unlisted,
		Places:       host.Places,
	})
	info := result.Info{
		Version:      host.Version,
		Server:       opts.Output.Server,
		SettleMS:     int(opts.Timing.Settle.Milliseconds()),
		TimeoutMS:    int(opts.Timing.Timeout.Milliseconds()),
		Jobs:         opts.Timing.Jobs,
		Required:     opts.Gate.Required,
		Acknowledged: opts.Gate.Acknowledged,
		Words:        opts.References.Words,
		Descriptions: opts.References.Descriptions,
		Unlisted:     opts.References.Unlisted,
		Texts:        texts,
	}
	run := discover.Run{
		Target:      opts.Target,
		Timing:      opts.Timing,
		Protocols:   opts.Protocols,
		Profiles:    opts.Profiles,
		Texts:       texts,
		Tools:       opts.References.Descriptions || opts.References.Unlisted,
		Version:     host.Version,
		Stderr:      host.Stderr,
		User:        host.User,
		InContainer: host.InContainer,
		Affected:    func(o []observe.Observation) observe.Set { return result.Affected(info, o) },
		Progress:    host.Progress,
		Sweep:       host.Sweep,
	}
	observations, err := run.Observe(ctx)
	if err != nil {
		return result.Result{}, err
	}
	r := result.New(info, observations)
	r.Looks = run.Looks()
	return r, nil
}
