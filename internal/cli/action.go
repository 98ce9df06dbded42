package cli

import (
	"errors"
	"os"

	"github.com/org/mcpeval-guidance/internal/action"
	"github.com/org/mcpeval-guidance/internal/coherence"
	"github.com/org/mcpeval-guidance/internal/discover"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/report"
)

// action is one check as a GitHub Action: the way of guidance, between the
// Action's inputs and its outputs. Whatever happens, the outputs are written
// and the log ends with the exit status in words.
func (a *app) action() (status int) {
	act := action.New(a.Out)
	act.Mask()
	outcome := action.Outcome{ExitStatus: report.ExitIncomplete}
	defer func() {
		if recover() != nil {
			outcome = action.Outcome{ExitStatus: report.ExitIncomplete}
			act.Fail("mcpeval failed", "Internal error: the check ended in a panic. Please report this.")
			outcome = summarized(act, action.PanicSummary, outcome)
		}
		if act.LogLost() {
			outcome.ExitStatus = report.ExitIncomplete
		}
		if err := act.SetOutputs(outcome); err != nil {
			act.Fail("Outputs could not be written", "The step's outputs could not be written: "+err.Error()+".")
			outcome.ExitStatus = report.ExitIncomplete
		}
		status = outcome.ExitStatus
		act.Logf("Exit status %d: %s.", status, action.ExitWords(status))
	}()
	outcome = a.act(act)
	return
}

func (a *app) act(act *action.Action) action.Outcome {
	in, err := act.Inputs()
	var opts options.Options
	if err == nil {
		opts, err = options.New(in.Raw)
	}
	if err != nil {
		var invalid *options.Error
		if errors.As(err, &invalid) {
			err = action.Explain(invalid)
		}
		act.Fail("Invalid input", "Invalid "+err.Error()+".")
		return summarized(act, action.UsageSummary("Invalid "+err.Error()), action.Outcome{ExitStatus: report.ExitUsage})
	}

	act.MaskHeaders(opts.Target)
	observations, err := a.observe(act, opts)
	if err != nil {
		return summarized(act, action.InterruptedSummary, action.Outcome{ExitStatus: a.interrupted()})
	}
	r, mentions := coherence.Check(observations, settings(opts, a.version))
	outcome := action.Outcome{Report: &r, ExitStatus: r.ExitStatus()}
	if err := in.Workspace.Write(in.ReportPath, r.WriteJSON); errors.Is(err, report.ErrInvalid) {
		act.Fail("mcpeval failed", brokenReport)
		outcome.ExitStatus = report.ExitIncomplete
	} else if err != nil {
		act.Fail("Report could not be written", "The JSON report could not be written to the workspace at report-path.")
		outcome.ExitStatus = report.ExitIncomplete
	} else {
		outcome.ReportPath = in.ReportPath
	}
	act.LogText(r.Text(false))
	for _, remark := range r.Remarks() {
		act.Logf("mcpeval: %s", remark)
	}
	act.Publish(action.Annotate(r, a.locate(act, in, shown(r, mentions))))
	return summarized(act, string(r.Markdown()), outcome)
}

// observe runs discovery, with the server that start-command names around it.
// Before it returns, everything that was started has ended: nothing writes to
// the runner's files beside us.
func (a *app) observe(act *action.Action, opts options.Options) ([]coherence.Observation, error) {
	defer act.GuardCommandFiles()()
	sweep := discover.Adopt()
	defer sweep()
	run := a.newRun(opts)
	run.Sweep = sweep
	run.InContainer = run.InContainer || !onRunner()
	if start := opts.Target.Start; start != nil {
		end := act.Group("Start the server")
		stop, failed, err := run.StartServer(a.ctx, *start)
		if err != nil || failed != nil {
			act.Logf("the server did not come up")
			end()
			return failed, err
		}
		act.Logf("the server listens")
		end()
		defer stop()
	}
	defer act.Group("Discover the profiles")()
	run.Progress = func(p profile.Profile, o *coherence.Observation) { act.Logf("%s: %s", p, progress(o)) }
	return run.Profiles(a.ctx)
}

// locate looks for the lines of the mentions. It runs git, in a workspace that
// the server could write to, so it is guarded as the server is.
func (a *app) locate(act *action.Action, in action.Inputs, mentions []action.Mention) map[string]action.Position {
	defer act.GuardCommandFiles()()
	defer discover.Adopt()()
	return in.Workspace.Locate(a.ctx, mentions, in.InstructionFiles)
}

// onRunner reports whether the Action runs on the runner itself and not in
// its container: the host variant of the Action sets the variable.
func onRunner() bool { return os.Getenv("MCPEVAL_ON_RUNNER") != "" }

// summarized writes the job summary; a summary that cannot be written makes
// the outcome incomplete.
func summarized(act *action.Action, markdown string, outcome action.Outcome) action.Outcome {
	if err := act.Summarize(markdown); err != nil {
		act.Fail("Summary could not be written", "The job summary could not be written: "+err.Error()+".")
		outcome.ExitStatus = report.ExitIncomplete
	}
	return outcome
}

// shown returns the mentions whose annotation is spelled out: only their
// places are looked for.
func shown(r report.Report, mentions []coherence.Mention) []action.Mention {
	var list []action.Mention
	lines := map[string][]string{}
	for _, m := range mentions {
		lines[m.Tool] = m.Lines
	}
	for _, g := range action.Shown(action.ToReview(r)) {
		list = append(list, action.Mention{Tool: g.Tool, Lines: lines[g.Tool]})
	}
	return list
}
