package action

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/org/mcpeval-guidance/internal/locate"
	"github.com/org/mcpeval-guidance/internal/report"
)

// maxShown is how many annotations of a kind are spelled out. GitHub shows at
// most ten of a kind in a step; the tenth says how many more there are.
const maxShown = 9

// Outcome is what a run came to, for the outputs.
type Outcome struct {
	Report     *report.Report // nil when there was no run
	ReportPath string         // relative to the workspace; empty when none was written
	ExitStatus int
}

// exitWords says an exit status in words: GitHub shows the number only in
// debug logs.
var exitWords = map[int]string{
	report.ExitOK:         "discovery complete, every required tool is there",
	report.ExitDefects:    "discovery complete, a required tool is missing in a profile",
	report.ExitUsage:      "invalid input, nothing was started",
	report.ExitIncomplete: "discovery incomplete, or a result could not be written",
}

// ExitWords returns the sentence for the end of the log.
func ExitWords(status int) string {
	if words, ok := exitWords[status]; ok {
		return words
	}
	return "interrupted, no result"
}

// Logf writes one line to the log. Its first character must be ours.
func (a *Action) Logf(format string, args ...any) {
	a.gha.Infof("%s", strings.ReplaceAll(fmt.Sprintf(format, args...), "##[", "## ["))
}

// LogText writes a rendered text to the log.
func (a *Action) LogText(text []byte) {
	for line := range strings.Lines(string(text)) {
		a.Logf("%s", strings.TrimSuffix(line, "\n"))
	}
}

// Group opens a group of the log and returns what closes it.
func (a *Action) Group(title string) (end func()) {
	a.gha.Group(title)
	return a.gha.EndGroup
}

// Fail writes an error annotation without a place. Both texts must be ours.
// Where GitHub would not show it any more, it is a line of the log.
func (a *Action) Fail(title, message string) {
	if a.errors > maxShown {
		a.Logf("error: %s", message)
		return
	}
	a.errors++
	a.gha.WithFieldsMap(map[string]string{"title": title}).Errorf("%s", message)
}

// Notice writes a notice without a place. Both texts must be ours.
func (a *Action) Notice(title, message string) {
	a.gha.WithFieldsMap(map[string]string{"title": title}).Noticef("%s", message)
}

// SetOutputs writes the step's outputs: enums, numbers and a path that was
// given as an input. All are of one line, so they need no heredoc, whose
// delimiter a path could be.
func (a *Action) SetOutputs(o Outcome) error {
	passed, complete, candidates, defects := "null", false, 0, 0
	if r := o.Report; r != nil {
		complete, candidates, defects = r.Complete, len(r.Candidates), len(r.Defects)
		if r.Passed != nil {
			passed = strconv.FormatBool(*r.Passed)
		}
	}
	return a.fileCommand("GITHUB_OUTPUT", func() {
		a.gha.IssueFileCommand(&githubactions.Command{Name: "output", Message: fmt.Sprintf(
			"passed=%s\ncomplete=%t\nexit-code=%d\ncandidates=%d\ndefects=%d\nreport=%s",
			passed, complete, o.ExitStatus, candidates, defects, o.ReportPath)})
	})
}

// Summarize writes the job summary.
func (a *Action) Summarize(markdown string) error {
	return a.fileCommand("GITHUB_STEP_SUMMARY", func() { a.gha.AddStepSummary(markdown) })
}

// fileCommand writes to one of the runner's command files. go-githubactions
// panics where the file is not there; outside GitHub there is none at all.
func (a *Action) fileCommand(variable string, write func()) (err error) {
	path := a.gha.Getenv(variable)
	if path == "" {
		return nil
	}
	// Not through a link: the runner makes none, but a server may have.
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return errors.New("the file that " + variable + " names is not there")
	}
	defer func() {
		if recover() != nil {
			err = errors.New("the file that " + variable + " names cannot be written")
		}
	}()
	write()
	return nil
}

// Annotation is one message on the pull request.
type Annotation struct {
	Title   string
	Message string
	At      locate.Position // its File is empty when there is no place
}

// Annotations are what a report has to say on the pull request, by kind, in
// order of weight: defects and incomplete profiles, then candidates to
// review, then acknowledged names that match nothing.
type Annotations struct {
	Errors, Warnings, Notices []Annotation
}

// noPlace says how a candidate gets a line on the pull request.
const noPlace = "Its line could not be told: instructions-file names the file that holds the text."

// Annotate makes the annotations. places may lack a tool.
func Annotate(r report.Report, places map[locate.Key]locate.Position) Annotations {
	var out Annotations
	for _, g := range r.Grouped(r.Defects) {
		out.Errors = append(out.Errors, Annotation{
			Title: "Required tool is missing for some clients",
			Message: fmt.Sprintf("The required tool %s is not listed in profile %s; it is available in %s. %s",
				g.Tool, report.List(g.Profiles), report.List(g.AvailableIn), g.Hint),
		})
	}
	for _, p := range r.Profiles {
		if d := p.Diagnosis; d != nil {
			out.Errors = append(out.Errors, Annotation{
				Title:   "MCP server could not be observed",
				Message: fmt.Sprintf("Profile %s is incomplete: %s at %s: %s; %s.", p.Profile, d.Code, d.Stage, d.Cause(), d.Advice()),
			})
		}
	}
	for _, g := range ToReview(r) {
		a := Annotation{
			Title: "Instructions name a tool that some clients do not get",
			Message: fmt.Sprintf("The tool %s is not listed in profile %s, whose instructions name it; it is available in %s. %s",
				g.Tool, report.List(g.Profiles), report.List(g.AvailableIn), g.Hint),
			At: places[locate.Key{Tool: g.Tool}],
		}
		if a.At.File == "" {
			a.Message += " " + noPlace
		}
		out.Warnings = append(out.Warnings, a)
	}
	for _, tool := range r.StaleAcknowledgements() {
		out.Notices = append(out.Notices, Annotation{
			Title:   "Acknowledged, but no candidate",
			Message: fmt.Sprintf("The tool %s in acknowledge matches no candidate: take it off the list.", tool),
		})
	}
	return out
}

// ToReview returns the candidates that nobody has acknowledged, by tool.
func ToReview(r report.Report) []report.Group {
	var groups []report.Group
	for _, g := range r.Grouped(r.Candidates) {
		if !g.Acknowledged {
			groups = append(groups, g)
		}
	}
	return groups
}

// Shown cuts groups to those whose annotation is spelled out.
func Shown(groups []report.Group) []report.Group { return groups[:min(len(groups), maxShown)] }

// Publish writes the annotations to the log as workflow commands.
func (a *Action) Publish(all Annotations) {
	before := a.errors
	a.errors += min(len(all.Errors), maxShown+1-before)
	for _, kind := range []struct {
		list   []Annotation
		before int
		write  func(*githubactions.Action, string)
	}{
		{all.Errors, before, func(g *githubactions.Action, m string) { g.Errorf("%s", m) }},
		{all.Warnings, 0, func(g *githubactions.Action, m string) { g.Warningf("%s", m) }},
		{all.Notices, 0, func(g *githubactions.Action, m string) { g.Noticef("%s", m) }},
	} {
		for i, annotation := range kind.list {
			if i == maxShown-kind.before {
				kind.write(a.gha, fmt.Sprintf("%d more of this kind: see the job summary.", len(kind.list)-i))
				break
			}
			fields := map[string]string{"title": annotation.Title}
			// The runner's old commands may stand anywhere in a line.
			if annotation.At.File != "" && !strings.Contains(annotation.At.File, "##[") {
				fields["file"], fields["line"] = annotation.At.File, strconv.Itoa(annotation.At.Line)
			}
			kind.write(a.gha.WithFieldsMap(fields), annotation.Message)
		}
	}
}

// InterruptedSummary is the job summary of a run that a signal ended.
const InterruptedSummary = "## ⚠️ MCP guidance: interrupted\n\nThe run was cancelled, so there is no result.\n"

// PanicSummary is the job summary of a run that failed in itself.
const PanicSummary = "## ❌ MCP guidance: internal error\n\nThe check ended in a panic, so there is no result. Please report this.\n"

// UntrustedSummary is the job summary of a run after which the server was not
// kept from the runner's files.
const UntrustedSummary = "## ❌ MCP guidance: no result that can be trusted\n\nThe server under test tampered with the runner's files, or could not be ended. The step's annotations say which.\n"

// UsageSummary is the job summary of a run that did not start.
func UsageSummary(problem string) string {
	return "## ❌ MCP guidance: invalid input\n\n" + escapeMarkdown(problem) + ".\n\nNothing was started or contacted.\n"
}

// escapeMarkdown keeps fixed texts with <, * or _ as they are.
func escapeMarkdown(text string) string {
	var out []byte
	for i := range len(text) {
		switch text[i] {
		case '<', '>', '*', '_', '`', '[', ']', '\\', '|', '#':
			out = append(out, '\\')
		}
		out = append(out, text[i])
	}
	return string(out)
}
