package action

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/org/mcpeval-guidance/internal/render"
	"github.com/org/mcpeval-guidance/internal/result"
)

// maxShown is how many annotations of a kind are spelled out. GitHub shows at
// most ten of a kind in a step; the tenth says how many more there are.
const maxShown = 9

// Outcome is what a run came to, for the outputs.
type Outcome struct {
	Result     *result.Result // nil when there was no run
	ReportPath string         // relative to the workspace; empty when none was written
	SARIFPath  string         // the same of the SARIF file
	ExitStatus int
}

// unwritten is for an outcome that could not be written in full. A step that
// has no verdict keeps its status, which says why.
func (o *Outcome) unwritten() {
	if o.ExitStatus == result.ExitOK || o.ExitStatus == result.ExitDefects {
		o.ExitStatus = result.ExitIncomplete
	}
}

// exitWords says an exit status in words: GitHub shows the number only in
// debug logs.
var exitWords = map[int]string{
	result.ExitOK:         "discovery complete, every required tool is there",
	result.ExitDefects:    "discovery complete, a required tool is missing in a session",
	result.ExitUsage:      "invalid input or no workspace, nothing was started",
	result.ExitIncomplete: "discovery incomplete, or a result could not be written",
}

// exitWordsOf returns the sentence for the end of the log.
func exitWordsOf(status int) string {
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

// Notice is Fail with a notice.
func (a *Action) Notice(title, message string) {
	if a.notices > maxShown {
		a.Logf("notice: %s", message)
		return
	}
	a.notices++
	a.gha.WithFieldsMap(map[string]string{"title": title}).Noticef("%s", message)
}

// SetOutputs writes the step's outputs: enums, numbers and a path that was
// given as an input. All are of one line, so they need no heredoc, whose
// delimiter a path could be.
func (a *Action) SetOutputs(o Outcome) error {
	passed, complete, candidates, defects := "null", false, 0, 0
	if r := o.Result; r != nil {
		complete = r.Complete
		candidates, defects = r.Counts()
		if r.Complete {
			passed = strconv.FormatBool(r.Passed)
		}
	}
	return a.fileCommand("GITHUB_OUTPUT", func() {
		a.gha.IssueFileCommand(&githubactions.Command{Name: "output", Message: fmt.Sprintf(
			"passed=%s\ncomplete=%t\nexit-code=%d\ncandidates=%d\ndefects=%d\nreport=%s\nsarif=%s",
			passed, complete, o.ExitStatus, candidates, defects, o.ReportPath, o.SARIFPath)})
	})
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

// Publish writes the annotations to the log as workflow commands, as many of a
// kind as GitHub shows.
func (a *Action) Publish(all render.Annotations) {
	a.publish(all.Errors, &a.errors, func(g *githubactions.Action, m string) { g.Errorf("%s", m) })
	a.publish(all.Warnings, &a.warnings, func(g *githubactions.Action, m string) { g.Warningf("%s", m) })
	a.publish(all.Notices, &a.notices, func(g *githubactions.Action, m string) { g.Noticef("%s", m) })
}

// publish writes the annotations of one kind, of which so many are shown
// already.
func (a *Action) publish(list []render.Annotation, shown *int, write func(*githubactions.Action, string)) {
	for i, annotation := range list {
		if *shown >= maxShown {
			if *shown == maxShown {
				*shown++
				write(a.gha, fmt.Sprintf("%d more of this kind: see the job summary.", len(list)-i))
			}
			return
		}
		*shown++
		fields := map[string]string{"title": annotation.Title}
		// The runner's old commands may stand anywhere in a line.
		if annotation.At.File != "" && !strings.Contains(annotation.At.File, "##[") {
			fields["file"], fields["line"] = annotation.At.File, strconv.Itoa(annotation.At.Line)
		}
		write(a.gha.WithFieldsMap(fields), annotation.Message)
	}
}

// interruptedSummary is the job summary of a run that a signal ended.
const interruptedSummary = "## ⚠️ MCP guidance: interrupted\n\nThe run was cancelled, so there is no result.\n"

// panicSummary is the job summary of a run that failed in itself.
const panicSummary = "## ❌ MCP guidance: internal error\n\nThe check ended in a panic, so there is no result. Please report this.\n"

// untrustedSummary is the job summary of a run after which the server was not
// kept from the runner's files.
const untrustedSummary = "## ❌ MCP guidance: no result that can be trusted\n\nThe server under test tampered with the runner's files, or could not be ended. The step's annotations say which.\n"

// usageSummary is the job summary of a run that did not start.
func usageSummary(title, problem string) string {
	return "## ❌ MCP guidance: " + strings.ToLower(title) + "\n\n" + escapeMarkdown(problem) + ".\n\nNothing was started or contacted.\n"
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
