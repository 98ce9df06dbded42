package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/org/mcpeval-guidance/internal/check"
	"github.com/org/mcpeval-guidance/internal/crash"
	"github.com/org/mcpeval-guidance/internal/detect"
	"github.com/org/mcpeval-guidance/internal/locate"
	"github.com/org/mcpeval-guidance/internal/observe"
	"github.com/org/mcpeval-guidance/internal/options"
	"github.com/org/mcpeval-guidance/internal/proc"
	"github.com/org/mcpeval-guidance/internal/render"
	"github.com/org/mcpeval-guidance/internal/result"
	"github.com/org/mcpeval-guidance/internal/wire"
)

// Run is one check as a GitHub Action: the way of guidance, between the
// Action's inputs and its outputs. Whatever happens, the outputs are written
// and the log ends with the exit status in words. interrupted is the exit
// status of a run that ctx ended.
func Run(ctx context.Context, out io.Writer, version string, interrupted func() int) (status int) {
	a := New(out)
	a.Mask()
	o := Outcome{ExitStatus: result.ExitIncomplete}
	defer func() {
		if c := crash.Recovered(recover()); c != nil {
			o = Outcome{ExitStatus: result.ExitIncomplete}
			a.Fail("mcpeval failed", fmt.Sprintf("Internal error: the check ended in a panic in %s. Please report this at %s.", c, crash.Report))
			a.summarize(panicSummary, &o)
		}
		if a.log.lost {
			o.unwritten()
		}
		if err := a.SetOutputs(o); err != nil {
			a.Fail("Outputs could not be written", "The step's outputs could not be written: "+err.Error()+".")
			o.unwritten()
		}
		status = o.ExitStatus
		a.Logf("Exit status %d: %s.", status, exitWordsOf(status))
	}()
	o = a.check(ctx, version, interrupted)
	return
}

// check is the Action's sequence: inputs, the repository's files, the check,
// annotations, summary, and last the files of the workspace.
func (a *Action) check(ctx context.Context, version string, interrupted func() int) Outcome {
	host := check.Host{Version: version, InContainer: os.Getenv("MCPEVAL_ON_RUNNER") == "", Places: true}
	if host.InContainer {
		// Before the inputs: what they expand is the server's environment.
		host.User = a.Stranger()
	}
	in, err := a.Inputs()
	var opts options.Options
	if err == nil {
		opts, err = options.New(in.Raw)
	}
	if err != nil {
		var invalid *options.Error
		if errors.As(err, &invalid) {
			err = Explain(invalid)
		}
		title, problem := "Invalid input", "Invalid "+err.Error()
		if a.workspace == nil {
			title, problem = "No workspace", err.Error()
		}
		o := Outcome{ExitStatus: result.ExitUsage}
		a.Fail(title, problem+".")
		a.summarize(usageSummary(title, problem), &o)
		return o
	}
	a.MaskHeaders(opts.Target)

	// Listed now: nothing is run any more when a server may have replaced it.
	repository := locate.List(ctx, in.Workspace.Path, directory(opts.Target, in))
	defer repository.Close()
	r, trusted, err := a.observe(ctx, opts, host)
	switch {
	case !trusted:
		o := Outcome{ExitStatus: result.ExitIncomplete}
		a.summarize(untrustedSummary, &o)
		return o
	case err != nil:
		return a.interrupted(interrupted())
	}
	places := a.places(ctx, repository, r, in)
	if ctx.Err() != nil {
		return a.interrupted(interrupted())
	}
	o := Outcome{Result: &r, ExitStatus: r.ExitStatus()}
	a.LogText(render.Text(r, false))
	for _, remark := range render.Remarks(r) {
		a.Logf("mcpeval: %s", remark)
	}
	a.Logf("mcpeval: %d sessions observed, %d in the report", r.Looks, len(r.Matrix.Observations))
	a.Publish(render.Annotate(r, places))
	a.summarize(string(render.Markdown(r)), &o)
	if in.SARIFPath != "" {
		sarif := render.SARIF(r, places, anchor(in, repository, a.gha.Getenv("GITHUB_WORKFLOW_REF")))
		o.SARIFPath = a.write(in.SARIFPath, "SARIF file", "sarif-path", &o, func(w io.Writer) error { _, err := w.Write(sarif); return err })
	}
	o.ReportPath = a.write(in.ReportPath, "JSON report", "report-path", &o, func(w io.Writer) error { return wire.Write(w, r) })
	if in.Workspace.Disowned() {
		a.Notice("Report belongs to root", "The report could not be given to the workspace's owner, which this container cannot name, so it belongs to root.")
	}
	return o
}

// interrupted is what a run came to that a signal ended.
func (a *Action) interrupted(status int) Outcome {
	o := Outcome{ExitStatus: status}
	a.summarize(interruptedSummary, &o)
	return o
}

// write puts a file into the workspace and returns its path, empty where it
// could not be written.
func (a *Action) write(path, what, input string, o *Outcome, content func(io.Writer) error) string {
	err := a.workspace.Write(path, content)
	if err == nil {
		return path
	}
	o.unwritten()
	if rule, ok := wire.IsInvalid(err); ok {
		a.Fail("mcpeval failed", fmt.Sprintf("Internal error: the report breaks its own schema (%s) and was not written. Please report this at %s.", rule, crash.Report))
	} else {
		a.Fail("Report could not be written", "The "+what+" could not be written to the workspace at "+input+".")
	}
	return ""
}

// directory is where the server's repository is looked for: where the first
// entry's server starts, or where working-directory says that it lies.
func directory(target options.Target, in Inputs) string {
	for _, launch := range []*options.Launch{target.Entries[0].Launch, target.Start} {
		if launch != nil && launch.Dir != "" {
			return launch.Dir
		}
	}
	if in.Raw.Dir != "" {
		return in.Raw.Dir
	}
	return in.Workspace.Path
}

// places looks for the lines of the findings that are spelled out.
func (a *Action) places(ctx context.Context, repository *locate.Repository, r result.Result, in Inputs) map[render.Key]render.Position {
	var mentions []locate.Mention
	keys := map[locate.Key]render.Key{}
	for _, f := range render.ToReview(r) {
		if f.Source.Kind == detect.NoText || in.SARIFPath == "" && len(mentions) == maxShown {
			continue
		}
		m := locate.Mention{Key: locate.Key{Tool: string(f.Tool), Description: string(f.Source.Tool)}}
		for _, place := range f.Places {
			m.Contexts = append(m.Contexts, locate.Context(place))
		}
		keys[m.Key] = render.KeyOf(f)
		mentions = append(mentions, m)
	}
	places := map[render.Key]render.Position{}
	for key, at := range repository.Find(ctx, mentions, in.InstructionFiles) {
		places[keys[key]] = render.Position(at)
	}
	return places
}

// anchor is the file that a SARIF result without a place is said of: the
// configuration file, or the workflow that runs the check.
func anchor(in Inputs, repository *locate.Repository, workflowRef string) string {
	if in.Raw.Config != nil {
		if file, err := filepath.Rel(in.Workspace.Path, *in.Raw.Config); err == nil {
			return repository.Relative(file)
		}
	}
	// OWNER/REPOSITORY/.github/workflows/FILE@REF
	file, _, _ := strings.Cut(workflowRef, "@")
	if _, file, ok := strings.Cut(file, "/.github/"); ok {
		return path.Join(".github", file)
	}
	return ""
}

// observe runs the check proper. Before it returns, everything that was started
// has ended, and the runner's files are what they were; where that cannot be
// said, the run is not trusted, and an annotation says why.
func (a *Action) observe(ctx context.Context, opts options.Options, host check.Host) (r result.Result, trusted bool, err error) {
	guard := a.GuardCommandFiles()
	unlock := func() {}
	if host.User != nil {
		unlock = a.Lock()
	}
	sweep := proc.Adopt()
	defer func() {
		left := sweep()
		unlock()
		tampered, failed := guard.PutBack()
		if left > 0 {
			a.Fail("The server could not be ended", proc.LeftBehind(left)+".")
		}
		if tampered {
			a.Fail("The runner's files were tampered with", "The server under test changed the files through which a step passes outputs, environment, path, state and summary to the runner. They were put back as they were, and the result does not count.")
		}
		if failed != nil {
			a.Fail("The runner's files were tampered with", "The runner's files could not be put back as they were: do not trust later steps of this job.")
		}
		trusted = left == 0 && !tampered && failed == nil
	}()
	defer a.Group("Discover the sessions")()
	host.Sweep = func() { sweep() }
	host.Progress = func(s observe.Session, o *observe.Observation) {
		a.Logf("session %s: %s", render.Session(s), render.Progress(o))
	}
	r, err = check.Run(ctx, opts, host)
	return r, true, err
}

// summarize writes the job summary; a summary that cannot be written makes the
// outcome incomplete.
func (a *Action) summarize(markdown string, o *Outcome) {
	if err := a.fileCommand("GITHUB_STEP_SUMMARY", func() { a.gha.AddStepSummary(markdown) }); err != nil {
		a.Fail("Summary could not be written", "The job summary could not be written: "+err.Error()+".")
		o.unwritten()
	}
}
