package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/org/mcpeval-guidance/internal/action"
	"github.com/org/mcpeval-guidance/internal/coherence"
	"github.com/org/mcpeval-guidance/internal/discover"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/proc"
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
	// Before the inputs: what they expand is the server's environment.
	var user *proc.User
	if !onRunner() {
		user = act.Stranger()
	}
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

	// Listed now: nothing is run any more when a server may have replaced it.
	var tracked []string
	if len(in.InstructionFiles) == 0 {
		tracked = in.Workspace.Tracked(a.ctx)
	}
	observations, trusted, err := a.observe(act, opts, in.StartCommand, user)
	if !trusted {
		return summarized(act, action.UntrustedSummary, action.Outcome{ExitStatus: report.ExitIncomplete})
	}
	if err != nil {
		return summarized(act, action.InterruptedSummary, action.Outcome{ExitStatus: a.interrupted()})
	}
	r, mentions := coherence.Check(observations, settings(opts, a.version))
	outcome := action.Outcome{Report: &r, ExitStatus: r.ExitStatus()}
	act.LogText(r.Text(false))
	for _, remark := range r.Remarks() {
		act.Logf("mcpeval: %s", remark)
	}
	act.Publish(action.Annotate(r, in.Workspace.Locate(a.ctx, shown(r, mentions), in.InstructionFiles, tracked)))
	outcome = summarized(act, string(r.Markdown()), outcome)
	if err := in.Workspace.Write(in.ReportPath, r.WriteJSON); errors.Is(err, report.ErrInvalid) {
		act.Fail("mcpeval failed", brokenReport)
		outcome.ExitStatus = report.ExitIncomplete
	} else if err != nil {
		act.Fail("Report could not be written", "The JSON report could not be written to the workspace at report-path.")
		outcome.ExitStatus = report.ExitIncomplete
	} else {
		outcome.ReportPath = in.ReportPath
	}
	if in.Workspace.Disowned() {
		act.Notice("Report belongs to root", "The report could not be given to the workspace's owner, which this container cannot name, so it belongs to root.")
	}
	return outcome
}

// observe runs discovery, with the server that start-command names around it.
// Before it returns, everything that was started has ended, and the runner's
// files are what they were; where that cannot be said, the run is not trusted,
// and an annotation says why.
func (a *app) observe(act *action.Action, opts options.Options, start []string, user *proc.User) (_ []coherence.Observation, trusted bool, _ error) {
	guard := act.GuardCommandFiles()
	unlock := func() {}
	if user != nil {
		unlock = act.Lock()
	}
	sweep := discover.Adopt()
	defer func() {
		left := sweep()
		unlock()
		tampered, err := guard.PutBack()
		if left > 0 {
			act.Fail("The server could not be ended", fmt.Sprintf("%d processes that the server started are still running and could not be ended.", left))
		}
		if tampered {
			act.Fail("The runner's files were tampered with", "The server under test changed the files through which a step passes outputs, environment, path, state and summary to the runner. They were put back as they were, and the result does not count.")
		}
		if err != nil {
			act.Fail("The runner's files were tampered with", "The runner's files could not be put back as they were: do not trust later steps of this job.")
		}
		trusted = left == 0 && !tampered && err == nil
	}()
	run := a.newRun(opts)
	run.Sweep = func() { sweep() }
	run.User = user
	run.InContainer = run.InContainer || !onRunner()
	if start := opts.Target.Start; start != nil {
		end := act.Group("Start the server")
		stop, failed, err := run.StartServer(a.ctx, *start)
		if err != nil || failed != nil {
			act.Logf("the server did not come up")
			end()
			return failed, true, err
		}
		act.Logf("the server listens")
		end()
		defer stop()
	}
	defer act.Group("Discover the profiles")()
	run.Progress = func(p profile.Profile, o *coherence.Observation) { act.Logf("%s: %s", p, progress(o)) }
	observations, err := run.Profiles(a.ctx)
	return observations, true, err
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
