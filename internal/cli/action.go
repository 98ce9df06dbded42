package cli

import (
	"errors"
	"os"

	"github.com/org/mcpeval-guidance/internal/action"
	"github.com/org/mcpeval-guidance/internal/coherence"
	"github.com/org/mcpeval-guidance/internal/discover"
	"github.com/org/mcpeval-guidance/internal/locate"
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
	if err == nil && in.StartCommand != nil && !opts.Loopback {
		err = &action.Error{Input: "start-command", Problem: "needs a loopback url: the server runs in this container"}
	}
	if err != nil {
		var invalid *options.Error
		if errors.As(err, &invalid) {
			err = action.Explain(invalid)
		}
		act.Fail("Invalid input", "Invalid "+err.Error()+".")
		return summarized(act, action.UsageSummary("Invalid "+err.Error()), action.Outcome{ExitStatus: report.ExitUsage})
	}

	// Before the server starts: it could replace git, or what git reads.
	repository := locate.List(a.ctx, in.Workspace.Path, opts.Dir)
	defer repository.Close()
	observations, err := a.observe(act, opts, in.StartCommand)
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
	act.Publish(action.Annotate(r, repository.Find(a.ctx, shown(r, mentions), in.InstructionFiles)))
	return summarized(act, string(r.Markdown()), outcome)
}

// observe runs discovery, with the server that start-command names around it.
// Before it returns, everything that was started has ended: nothing writes to
// the runner's files beside us.
func (a *app) observe(act *action.Action, opts options.Options, start []string) ([]coherence.Observation, error) {
	defer act.GuardCommandFiles()()
	sweep := discover.Adopt()
	defer sweep()
	run := a.newRun(opts)
	run.Sweep = sweep
	run.InContainer = run.InContainer || !onRunner()
	if start != nil {
		end := act.Group("Start the server")
		stop, failed, err := run.StartServer(a.ctx, start)
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
func shown(r report.Report, mentions []coherence.Mention) []locate.Mention {
	var list []locate.Mention
	lines := map[string][]string{}
	for _, m := range mentions {
		lines[m.Tool] = m.Lines
	}
	for _, g := range action.Shown(action.ToReview(r)) {
		m := locate.Mention{Key: locate.Key{Tool: g.Tool}}
		for _, line := range lines[g.Tool] {
			m.Contexts = append(m.Contexts, locate.Context{Line: line})
		}
		list = append(list, m)
	}
	return list
}
