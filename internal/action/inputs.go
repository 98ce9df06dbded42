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
	"slices"
	"strings"
	"unicode"

	"github.com/kballard/go-shellquote"
	"github.com/sethvargo/go-githubactions"

	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/options"
)

// DefaultReportPath is where the JSON report goes, relative to the workspace.
const DefaultReportPath = "mcpeval-guidance.json"

// Inputs are what action.yml's inputs say: raw options, which options.New
// judges as it judges a command line's, and what only the Action has.
type Inputs struct {
	Raw              options.Raw
	InstructionFiles []string // relative to the workspace
	ReportPath       string   // relative to the workspace
	SARIFPath        string   // relative to the workspace; empty for none
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

// Explain turns an option's error into the input's.
func Explain(err *options.Error) *Error {
	return &Error{Input: words(err.Option), Problem: err.In(words)}
}

// words has the inputs' word for each option, and for the advice that options
// leaves to a front end.
func words(option string) string {
	switch option {
	case "profile", "protocol", "require-tool":
		return option + "s"
	case "entry":
		return "entries"
	case "command":
		return "server-command"
	case "target":
		return "server-command, url, config"
	case "write-command":
		return "write the program and its arguments"
	case "several":
		return "separate names with commas, blanks or line ends"
	case "few":
		return "fewer entries, protocols or profiles"
	case "in-environment":
		return "under env: of the step"
	case "permit-remote":
		return "allow-remote-http: true"
	}
	return option
}

// Mask hides the Authorization value and the further headers in the log. It
// must come before anything else is printed.
func (a *Action) Mask() {
	if value := a.authorization(); value != nil && *value != "" {
		a.mask(*value)
	}
	if lines := a.headers(); lines != nil {
		for line := range strings.Lines(*lines) {
			if _, value, ok := strings.Cut(line, ":"); ok {
				a.maskHeader(strings.TrimSpace(value))
			}
		}
	}
}

// MaskHeaders hides the values of the headers that a configuration file gave.
func (a *Action) MaskHeaders(target options.Target) {
	for _, entry := range target.Entries {
		if entry.Endpoint == nil {
			continue
		}
		for _, h := range entry.Endpoint.Headers {
			a.maskHeader(h.Value.Reveal())
		}
	}
}

// maskHeader leaves out what is no secret and stands in our own outputs: the
// runner drops an output that holds a masked value.
func (a *Action) maskHeader(value string) {
	if len(value) >= 4 && !slices.Contains([]string{"true", "false", "null"}, strings.ToLower(value)) {
		a.mask(value)
	}
}

func (a *Action) mask(value string) {
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
	if _, repository, ok := strings.Cut(a.gha.Getenv("GITHUB_REPOSITORY"), "/"); ok {
		raw.DefaultServer = string(name.Label(repository))
	}
	raw.URL = a.text("url")
	raw.SettleMS, raw.TimeoutMS, raw.Jobs = a.text("settle-ms"), a.text("timeout-ms"), a.text("jobs")
	raw.Authorization, raw.Headers = a.authorization(), a.headers()
	for _, list := range []struct {
		input string
		into  *[]string
	}{
		{"profiles", &raw.Profiles}, {"protocols", &raw.Protocols}, {"references", &raw.References},
		{"require-tools", &raw.RequireTools}, {"acknowledge", &raw.Acknowledge},
	} {
		var err error
		if *list.into, err = a.list(list.input, splitNames); err != nil {
			return in, err
		}
	}
	var err error
	if raw.Entries, err = a.list("entries", wholeLine); err != nil {
		return in, err
	}
	if in.InstructionFiles, err = a.list("instructions-file", a.splitFiles); err != nil {
		return in, err
	}
	if raw.AllowRemoteHTTP, err = a.flag("allow-remote-http"); err != nil {
		return in, err
	}
	if raw.Command, err = a.command("server-command"); err != nil {
		return in, err
	}
	if raw.StartCommand, err = a.command("start-command"); err != nil {
		return in, err
	}
	err = a.paths(&in)
	return in, err
}

// paths judges the inputs that name places in the workspace.
func (a *Action) paths(in *Inputs) error {
	w := a.workspace
	in.Raw.Confine = w.Path
	if in.Raw.Config = a.text("config"); in.Raw.Config != nil {
		if !a.isFile(*in.Raw.Config) {
			return &Error{"config", "must be a file inside the workspace, relative to it"}
		}
		path := filepath.Join(w.Path, *in.Raw.Config)
		in.Raw.Config = &path
	} else {
		in.Raw.Dir = w.Path
	}
	if dir := a.text("working-directory"); dir != nil {
		if info, err := w.root.Stat(local(*dir)); err != nil || !info.IsDir() {
			return &Error{"working-directory", "must be a folder inside the workspace, relative to it"}
		}
		in.Raw.Dir = filepath.Join(w.Path, *dir)
	}
	for _, file := range in.InstructionFiles {
		if !a.isFile(file) {
			return &Error{"instructions-file", "every name must be a file inside the workspace, relative to it"}
		}
	}
	var err error
	if in.ReportPath, err = a.target("report-path", DefaultReportPath); err != nil {
		return err
	}
	if in.SARIFPath, err = a.target("sarif-path", ""); err != nil {
		return err
	}
	if in.SARIFPath == in.ReportPath {
		return &Error{"sarif-path", "must be another file than report-path"}
	}
	return nil
}

// target is a file that we write: standard where the input is not set.
func (a *Action) target(input, standard string) (string, error) {
	path := a.text(input)
	if path == nil {
		path = &standard
		if standard == "" {
			return "", nil
		}
	}
	clean := filepath.Clean(*path)
	if os.IsPathSeparator((*path)[len(*path)-1]) || strings.ContainsFunc(clean, unicode.IsControl) || !a.workspace.canWrite(clean) {
		return "", &Error{input, "must name a file inside the workspace, relative to it, that is no folder"}
	}
	return filepath.ToSlash(clean), nil
}

func (a *Action) isFile(path string) bool {
	info, err := a.workspace.root.Stat(local(path))
	return err == nil && info.Mode().IsRegular()
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

// headers are the further headers, one a line, as authorization is.
func (a *Action) headers() *string {
	if value := a.text("http-headers"); value != nil {
		return value
	}
	if value, set := os.LookupEnv("MCPEVAL_HTTP_HEADERS"); set {
		return &value
	}
	return nil
}

// list reads a JSON array of strings, or the items that split finds in each
// line. A line's leading "- " is dropped before, as a YAML list kept as text
// has it.
func (a *Action) list(input string, split func(line string) []string) ([]string, error) {
	text := a.text(input)
	if text == nil {
		return nil, nil
	}
	var items []string
	if strings.HasPrefix(*text, "[") {
		words, err := array(input, *text)
		if err != nil {
			return nil, err
		}
		items = words
	} else {
		for line := range strings.Lines(*text) {
			line = strings.TrimSpace(line)
			if rest, ok := strings.CutPrefix(line, "-"); ok && strings.TrimSpace(rest) != rest || line == "-" {
				line = strings.TrimSpace(rest)
			}
			if line != "" {
				items = append(items, split(line)...)
			}
		}
	}
	if len(items) == 0 {
		return nil, &Error{input, "holds separators but no name"}
	}
	return items, nil
}

// splitNames splits at commas and blanks. A folded YAML list has its dashes in
// one line; no tool is meant by them.
func splitNames(line string) []string {
	items := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	for i := range items {
		items[i] = unquoted(items[i])
	}
	return slices.DeleteFunc(items, func(item string) bool { return item == "-" })
}

func wholeLine(line string) []string { return []string{unquoted(line)} }

// splitFiles takes a line, or what stands between commas, whole where it is a
// file: names may have blanks.
func (a *Action) splitFiles(line string) (files []string) {
	if whole := unquoted(line); a.isFile(whole) {
		return []string{whole}
	}
	for part := range strings.SplitSeq(line, ",") {
		if whole := unquoted(strings.TrimSpace(part)); a.isFile(whole) {
			files = append(files, whole)
			continue
		}
		files = append(files, splitNames(part)...)
	}
	return files
}

// unquoted drops a pair of quotes around an item.
func unquoted(item string) string {
	if n := len(item); n >= 2 && item[0] == item[n-1] && (item[0] == '\'' || item[0] == '"') {
		return item[1 : n-1]
	}
	return item
}

// array reads a JSON array of strings.
func array(input, text string) ([]string, error) {
	var words []*string
	if err := json.Unmarshal([]byte(text), &words); err != nil {
		return nil, &Error{input, "begins with [ but is no JSON array of strings"}
	}
	list := make([]string, len(words))
	for i, word := range words {
		if word == nil {
			return nil, &Error{input, "is a JSON array with a null: every word must be a string"}
		}
		list[i] = *word
	}
	return list, nil
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
// is no shell: what only a shell would do is refused, and * is an ordinary
// character.
func (a *Action) command(input string) ([]string, error) {
	text := a.text(input)
	if text == nil {
		return nil, nil
	}
	if strings.HasPrefix(*text, "[") {
		return array(input, *text)
	}
	// Not trimmed: a blank or a line's end may belong to a backslash before it.
	whole := strings.ReplaceAll(a.gha.Getenv("INPUT_"+strings.ToUpper(input)), "\r\n", "\n")
	words, err := shellquote.Split(whole)
	if err != nil {
		return nil, &Error{input, "has a quote that is not closed, or a \\ at its end"}
	}
	if problem := shellText(whole); problem != "" {
		return nil, &Error{input, problem}
	}
	if words == nil {
		words = []string{} // given, without a word
	}
	return words, nil
}

// Action is one run as a GitHub Action.
type Action struct {
	gha       *githubactions.Action
	log       *log
	workspace *Workspace
	// Annotations so far.
	errors, warnings, notices int
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
