// Package options turns the texts that a command line or an Action's inputs
// give into validated options. Every default and limit lives here, once. It
// must never start or contact anything: what it refuses ends with exit status
// 2 before anything has happened.
package options

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/mcpeval-guidance/internal/name"
	"github.com/org/mcpeval-guidance/internal/profile"
	"github.com/org/mcpeval-guidance/internal/protocol"
)

// Defaults and limits of the options (CONTRACT.md section 2).
const (
	DefaultSettleMS = 1500 // milliseconds; the reference server asks for roots 350 ms after initialized
	MaxSettleMS     = 5000 // milliseconds

	DefaultTimeoutMS = 60000  // milliseconds, one session; a cold npx or uvx installs within it
	MinTimeoutMS     = 1000   // milliseconds
	MaxTimeoutMS     = 600000 // milliseconds

	MaxJobs     = 5  // sessions at a time
	MaxSessions = 60 // entries x protocols x profiles

	MaxHeaderBytes = 8192 // one header's value: what common servers take
	MaxHeaders     = 32   // of the user's, Authorization not counted
	maxURLBytes    = 8192 // longer than any endpoint, short enough for every server
)

// Format is a rendering of the report.
type Format string

// The formats of --format.
const (
	Text     Format = "text"
	JSON     Format = "json"
	Markdown Format = "markdown"
	SARIF    Format = "sarif"
)

// formats lists the values of --format for messages and help.
var formats = []Format{Text, JSON, Markdown, SARIF}

// Raw is what a front end read, before any judgement. A nil pointer is an
// option that was not given; a list keeps empty elements, so that they can be
// refused.
type Raw struct {
	Server           *string
	DefaultServer    string // the label where nothing else gives one; may be empty
	Profiles         []string
	Protocols        []string
	References       []string
	RequireTools     []string
	Acknowledge      []string
	SettleMS         *string
	TimeoutMS        *string
	Jobs             *string
	Format           *string
	ShowServerStderr bool

	// The target: one of URL, Command and Config.
	URL             *string
	AllowRemoteHTTP bool
	Command         []string // nil when there was none
	Config          *string  // a configuration file
	Entries         []string // keys of it
	StartCommand    []string // serves the URL; nil for none
	Dir             string   // where commands start; empty: here, or where the file says
	Confine         string   // the folder that a file's paths must not leave; empty: anywhere

	Authorization *string // the Authorization header's value
	Headers       *string // lines "Name: value"

	Environ []string // ours, as os.Environ has it; the server's is made from it
}

// Options are validated and never change after New.
type Options struct {
	Target     Target
	Timing     Timing
	Gate       Gate
	Output     Output
	Profiles   []profile.Profile  // in report order, at least one
	Protocols  []protocol.Version // ascending, at least one
	References References
}

// Target is what is checked: one configuration of a server, or several of
// which each makes sessions of its own.
type Target struct {
	Entries []Entry // in the order given, at least one
	Start   *Launch // serves the one entry's endpoint; nil for none
}

// Entry is one configuration of the server. Exactly one of Launch and
// Endpoint is set.
type Entry struct {
	Label    name.Name // empty where no configuration file was given
	Launch   *Launch
	Endpoint *Endpoint
}

// Launch starts a stdio server.
type Launch struct {
	Args []string // the program first; not empty
	Env  []string // the server's whole environment, KEY=VALUE; of a repeated key the last counts
	Dir  string   // empty: here
}

// Endpoint is a Streamable HTTP server.
type Endpoint struct {
	URL      *url.URL
	Loopback bool     // it must be reached on a loopback address
	Headers  []Header // beside those of the protocol; Authorization is one of them
}

// Timing is how long is waited, and how much is done side by side.
type Timing struct {
	Settle  time.Duration
	Timeout time.Duration // one session, the settle window not counted
	Jobs    int           // 0 where it was not given: 5 for a command, 1 for a URL
}

// Gate has the tools that a maintainer wrote down. Both lists are sorted and
// unique.
type Gate struct {
	Required     []name.Name // every session must list them
	Acknowledged []name.Name // their candidates have been reviewed
}

// Output is what is printed, beside what was found.
type Output struct {
	Server           name.Name // the report's label
	Format           Format
	ShowServerStderr bool
}

// References is what counts as a reference beside inline code in instructions
// (CONTRACT.md section 3.4).
type References struct{ Words, Descriptions, Unlisted bool }

// Error is an invalid option. Neither field ever holds a value that was
// given: it may be a URL, a command or a secret.
type Error struct {
	// Option is the flag's name without dashes, "command" for COMMAND, or
	// "target" for the three that say which server to check; the Action has
	// "start-command" beside the flags.
	Option string
	// Problem says what to correct. In braces stand names of other options,
	// such as {config}, and of advice that each front end words for itself.
	Problem string
}

func (e *Error) Error() string {
	return e.Option + ": " + e.Problem
}

var braces = regexp.MustCompile(`\{[a-z-]+\}`)

// In returns the problem as a front end says it: words has its word for an
// option.
func (e *Error) In(words func(option string) string) string {
	return braces.ReplaceAllStringFunc(e.Problem, func(option string) string {
		return words(option[1 : len(option)-1])
	})
}

func invalid(option, format string, args ...any) *Error {
	return &Error{Option: option, Problem: fmt.Sprintf(format, args...)}
}

// New validates everything, the combinations first. The error is always an
// *Error.
func New(raw Raw) (Options, error) {
	var opts Options
	steps := []func(Raw, *Options) *Error{target, server, profiles, protocols, sessions, references, numbers, format, tools}
	for _, step := range steps {
		if err := step(raw, &opts); err != nil {
			return Options{}, err
		}
	}
	opts.Output.ShowServerStderr = raw.ShowServerStderr
	return opts, nil
}

func server(raw Raw, opts *Options) *Error {
	given := ""
	switch {
	case raw.Server != nil:
		given = *raw.Server
	case len(opts.Target.Entries) == 1 && opts.Target.Entries[0].Label != "":
		given = string(opts.Target.Entries[0].Label)
	case raw.DefaultServer != "":
		given = raw.DefaultServer
	default:
		return invalid("server", "required: a label for the report, %s", name.Grammar)
	}
	label, ok := name.Parse(given)
	if !ok {
		return invalid("server", "must be %s", name.Grammar)
	}
	opts.Output.Server = label
	return nil
}

// chosen parses the values of a repeatable option and puts them into the order
// of every; without any it returns standard.
func chosen[T comparable](option string, given []string, every, standard []T, parse func(string) (T, bool)) ([]T, *Error) {
	if given == nil {
		return standard, nil
	}
	wanted := map[T]bool{}
	for _, text := range given {
		value, ok := parse(text)
		if !ok {
			return nil, invalid(option, "must be one of %s", join(every))
		}
		wanted[value] = true
	}
	if len(wanted) == 0 {
		return nil, invalid(option, "empty: leave it out, or name some of %s", join(every))
	}
	return slices.DeleteFunc(slices.Clone(every), func(value T) bool { return !wanted[value] }), nil
}

func profiles(raw Raw, opts *Options) (err *Error) {
	opts.Profiles, err = chosen("profile", raw.Profiles, profile.Every(), profile.Every(), profile.Parse)
	return err
}

func protocols(raw Raw, opts *Options) (err *Error) {
	opts.Protocols, err = chosen("protocol", raw.Protocols, protocol.Every(), []protocol.Version{protocol.Default}, protocol.Parse)
	return err
}

func sessions(_ Raw, opts *Options) *Error {
	entries, protocols, profiles := len(opts.Target.Entries), len(opts.Protocols), len(opts.Profiles)
	if entries*protocols*profiles > MaxSessions {
		return invalid("profile", "%d entries x %d protocols x %d profiles are more than %d sessions: choose {few}",
			entries, protocols, profiles, MaxSessions)
	}
	return nil
}

// The values of --references.
const (
	code         = "code" // always counts
	words        = "words"
	descriptions = "descriptions"
	unlisted     = "unlisted"
	all          = "all"
)

func references(raw Raw, opts *Options) *Error {
	every := []string{code, words, descriptions, unlisted, all}
	given, err := chosen("references", raw.References, every, nil, func(text string) (string, bool) { return text, slices.Contains(every, text) })
	has := func(value string) bool { return slices.Contains(given, value) || slices.Contains(given, all) }
	opts.References = References{Words: has(words), Descriptions: has(descriptions), Unlisted: has(unlisted)}
	return err
}

func numbers(raw Raw, opts *Options) *Error {
	settle, err := number("settle-ms", raw.SettleMS, DefaultSettleMS, 0, MaxSettleMS)
	if err != nil {
		return err
	}
	timeout, err := number("timeout-ms", raw.TimeoutMS, DefaultTimeoutMS, MinTimeoutMS, MaxTimeoutMS)
	if err != nil {
		return err
	}
	opts.Timing.Settle = time.Duration(settle) * time.Millisecond
	opts.Timing.Timeout = time.Duration(timeout) * time.Millisecond
	opts.Timing.Jobs, err = number("jobs", raw.Jobs, 0, 1, MaxJobs)
	return err
}

var digits = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})$`)

// number reads plain decimal digits: strconv would take signs and leading
// zeros, kong even 0x10 and 1_500.
func number(option string, text *string, standard, low, high int) (int, *Error) {
	if text == nil {
		return standard, nil
	}
	if digits.MatchString(*text) {
		if n, err := strconv.Atoi(*text); err == nil && n >= low && n <= high {
			return n, nil
		}
	}
	return 0, invalid(option, "must be a whole number from %d to %d, in plain digits", low, high)
}

func format(raw Raw, opts *Options) *Error {
	opts.Output.Format = Text
	if raw.Format == nil {
		return nil
	}
	opts.Output.Format = Format(*raw.Format)
	if !slices.Contains(formats, opts.Output.Format) {
		return invalid("format", "must be one of %s", join(formats))
	}
	return nil
}

func tools(raw Raw, opts *Options) (err *Error) {
	if opts.Gate.Required, err = names("require-tool", raw.RequireTools); err != nil {
		return err
	}
	opts.Gate.Acknowledged, err = names("acknowledge", raw.Acknowledge)
	return err
}

func names(option string, list []string) ([]name.Name, *Error) {
	var valid []name.Name
	for _, text := range list {
		tool, ok := name.Parse(text)
		if !ok {
			return nil, invalid(option, "a tool's name must be %s; {several}", name.Grammar)
		}
		valid = append(valid, tool)
	}
	slices.Sort(valid)
	return slices.Compact(valid), nil
}

func join[T any](list []T) string {
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = fmt.Sprint(item)
	}
	return strings.Join(texts, ", ")
}
