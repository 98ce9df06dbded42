// Package action is the GitHub Action's side of the check: inputs to options,
// and a report to outputs, the job summary and annotations. It is the only
// user of go-githubactions. It must never print a word of a server that is
// not a validated name, nor let such a name begin a line of the log: the
// runner reads workflow commands there.
package action

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/kballard/go-shellquote"
	"github.com/sethvargo/go-githubactions"

	"github.com/org/mcpeval-guidance/internal/options"
)

// DefaultReportPath is where the JSON report goes, relative to the workspace.
const DefaultReportPath = "mcpeval-guidance.json"

// Inputs are what action.yml's inputs say: raw options, which options.New
// judges as it judges a command line's, and what only the Action has.
type Inputs struct {
	Raw              options.Raw
	StartCommand     []string // serves the URL; nil for none
	InstructionFiles []string // relative to the workspace
	ReportPath       string   // relative to the workspace
	Workspace        *Workspace
}

// Error is an invalid input. Its text never holds a value.
type Error struct {
	Input   string // as action.yml has it; empty where none is at fault
	Problem string
}

func (e *Error) Error() string {
	if e.Input == "" {
		return e.Problem
	}
	return "input " + e.Input + ": " + e.Problem
}

// inputOf maps options to the inputs that have another name.
var inputOf = map[string]string{
	"profile":      "profiles",
	"require-tool": "require-tools",
	"command":      "server-command",
	"target":       "server-command, url, config",
}

// Explain turns an option's error into the input's.
func Explain(err *options.Error) *Error {
	input := err.Option
	if name, ok := inputOf[input]; ok {
		input = name
	}
	return &Error{Input: input, Problem: err.Problem}
}

// Mask hides the Authorization value in the log. It must come before
// anything else is printed.
func (a *Action) Mask() {
	authorization := a.authorization()
	if authorization == nil || *authorization == "" {
		return
	}
	value := *authorization
	a.gha.AddMask(value)
	// A server or a proxy may echo the credential without its scheme.
	if _, credential, ok := strings.Cut(value, " "); ok && len(strings.TrimSpace(credential)) >= 8 {
		a.gha.AddMask(strings.TrimSpace(credential))
	}
}

// Inputs reads the environment. The error is always an *Error.
func (a *Action) Inputs() (Inputs, error) {
	in := Inputs{Workspace: a.workspace}
	if a.workspace == nil {
		return in, &Error{Problem: "GITHUB_WORKSPACE names no folder that can be opened: run actions/checkout before this step, or mount the workspace"}
	}
	raw := &in.Raw
	raw.Environ = os.Environ()
	raw.Server = a.text("server")
	if raw.Server == nil {
		if _, name, ok := strings.Cut(a.gha.Getenv("GITHUB_REPOSITORY"), "/"); ok {
			raw.Server = &name
		}
	}
	raw.URL = a.text("url")
	raw.SettleMS, raw.TimeoutMS, raw.Jobs = a.text("settle-ms"), a.text("timeout-ms"), a.text("jobs")
	raw.Authorization = a.authorization()
	for _, list := range []struct {
		input string
		into  *[]string
	}{
		{"profiles", &raw.Profiles}, {"require-tools", &raw.RequireTools},
		{"acknowledge", &raw.Acknowledge}, {"instructions-file", &in.InstructionFiles},
	} {
		var err error
		if *list.into, err = a.list(list.input); err != nil {
			return in, err
		}
	}
	var err error
	if raw.AllowRemoteHTTP, err = a.flag("allow-remote-http"); err != nil {
		return in, err
	}
	if raw.Command, err = a.command("server-command"); err != nil {
		return in, err
	}
	if in.StartCommand, err = a.command("start-command"); err != nil {
		return in, err
	}
	if in.StartCommand != nil && raw.URL == nil {
		return in, &Error{"start-command", "needs url: it starts the server that serves that URL"}
	}
	err = a.paths(&in)
	return in, err
}

// paths judges the inputs that name places in the workspace.
func (a *Action) paths(in *Inputs) error {
	w := a.workspace
	in.Raw.Dir = w.Path
	if dir := a.text("working-directory"); dir != nil {
		if info, err := w.root.Stat(local(*dir)); err != nil || !info.IsDir() {
			return &Error{"working-directory", "must be a folder inside the workspace, relative to it"}
		}
		in.Raw.Dir = filepath.Join(w.Path, *dir)
	}
	if file := a.text("config"); file != nil {
		if info, err := w.root.Stat(local(*file)); err != nil || !info.Mode().IsRegular() {
			return &Error{"config", "must be a file inside the workspace, relative to it"}
		}
		path := filepath.Join(w.Path, *file)
		in.Raw.Config = &path
	}
	for _, file := range in.InstructionFiles {
		if info, err := w.root.Stat(local(file)); err != nil || !info.Mode().IsRegular() {
			return &Error{"instructions-file", "every name must be a file inside the workspace, relative to it"}
		}
	}
	in.ReportPath = DefaultReportPath
	folder := false
	if path := a.text("report-path"); path != nil {
		in.ReportPath, folder = filepath.Clean(*path), os.IsPathSeparator((*path)[len(*path)-1])
	}
	if folder || strings.ContainsFunc(in.ReportPath, unicode.IsControl) || !w.canWrite(in.ReportPath) {
		return &Error{"report-path", "must name a file inside the workspace, relative to it, that is no folder"}
	}
	return nil
}

// local passes a relative path on and turns any other into one that does not
// exist: os.Root takes an absolute path as relative to itself.
func local(path string) string {
	if !filepath.IsLocal(path) {
		return "\x00"
	}
	return path
}

// text returns an input with its blanks trimmed; nil when it is not set.
func (a *Action) text(input string) *string {
	if value := a.gha.GetInput(input); value != "" {
		return &value
	}
	return nil
}

// authorization is the input or, without it, the variable that the command
// line takes; nil when neither is set.
func (a *Action) authorization() *string {
	if value := a.text("http-authorization"); value != nil {
		return value
	}
	if value, set := os.LookupEnv("MCPEVAL_HTTP_AUTHORIZATION"); set {
		return &value
	}
	return nil
}

// list splits at commas, blanks and line ends.
func (a *Action) list(input string) ([]string, error) {
	text := a.text(input)
	if text == nil {
		return nil, nil
	}
	items := strings.FieldsFunc(*text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(items) == 0 {
		return nil, &Error{input, "holds separators but no name"}
	}
	return items, nil
}

func (a *Action) flag(input string) (bool, error) {
	text := a.text(input)
	switch {
	case text == nil || *text == "false":
		return false, nil
	case *text == "true":
		return true, nil
	}
	return false, &Error{input, "must be true or false"}
}

// command reads a JSON array of strings, or words with POSIX quoting. There
// is no shell: nothing is expanded, and ; or * are ordinary characters.
func (a *Action) command(input string) ([]string, error) {
	text := a.text(input)
	if text == nil {
		return nil, nil
	}
	if strings.HasPrefix(*text, "[") {
		var words []*string
		if err := json.Unmarshal([]byte(*text), &words); err != nil {
			return nil, &Error{input, "begins with [ but is no JSON array of strings"}
		}
		command := make([]string, len(words))
		for i, word := range words {
			if word == nil {
				return nil, &Error{input, "is a JSON array with a null: every word must be a string"}
			}
			command[i] = *word
		}
		return command, usable(input, command)
	}
	// Not trimmed: a blank or a line's end may belong to a backslash before it.
	whole := a.gha.Getenv("INPUT_" + strings.ToUpper(input))
	words, err := shellquote.Split(strings.ReplaceAll(whole, "\r\n", "\n"))
	if err != nil {
		return nil, &Error{input, "has a quote that is not closed, or a \\ at its end"}
	}
	return words, usable(input, words)
}

func usable(input string, command []string) error {
	if len(command) == 0 || command[0] == "" {
		return &Error{input, "must begin with a command that is not empty"}
	}
	for _, word := range command {
		if strings.ContainsRune(word, 0) {
			return &Error{input, "has a NUL character, which no command can have"}
		}
	}
	return nil
}

// Action is one run as a GitHub Action.
type Action struct {
	gha       *githubactions.Action
	log       *log
	errors    int // error annotations so far
	workspace *Workspace
	// The server's home, where it is a stranger, and what was ours before.
	home, formerHome string
}

// log remembers that a write failed instead of failing: go-githubactions
// panics then, and the outputs would be lost too.
type log struct {
	out  io.Writer
	lost bool
}

func (l *log) Write(p []byte) (int, error) {
	if _, err := l.out.Write(p); err != nil {
		l.lost = true
	}
	return len(p), nil
}

// LogLost reports whether a part of the log, and with it an annotation, could
// not be written.
func (a *Action) LogLost() bool { return a.log.lost }

// New makes the Action's front end, which writes its log to out. Nothing is
// printed yet.
func New(out io.Writer) *Action {
	kept := &log{out: out}
	return &Action{
		gha:       githubactions.New(githubactions.WithWriter(kept)),
		log:       kept,
		workspace: openWorkspace(os.Getenv("GITHUB_WORKSPACE")),
	}
}
