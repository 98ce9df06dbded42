// Package options turns the texts that a command line or an Action's inputs
// give into validated options. Every default and limit lives here, once. It
// must never start or contact anything: what it refuses ends with exit status
// 2 before anything has happened.
package options

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/mcpeval-guidance/internal/profile"
)

// Defaults and limits of the options (CONTRACT.md section 2).
const (
	DefaultSettleMS = 1500 // milliseconds; the reference server asks for roots 350 ms after initialized
	MaxSettleMS     = 5000 // milliseconds

	DefaultTimeoutMS = 60000  // milliseconds, one profile; a cold npx or uvx installs within it
	MinTimeoutMS     = 1000   // milliseconds
	MaxTimeoutMS     = 600000 // milliseconds

	MaxJobs = 5 // profiles at a time: one for each profile there is

	MaxNameBytes          = 128  // a label or a tool name
	MaxAuthorizationBytes = 8192 // what common servers take as one header
	maxURLBytes           = 8192 // longer than any endpoint, short enough for every server
)

// Format is a rendering of the report.
type Format string

// The formats of --format.
const (
	Text     Format = "text"
	JSON     Format = "json"
	Markdown Format = "markdown"
)

// formats lists the values of --format for messages and help.
var formats = []Format{Text, JSON, Markdown}

// Raw is what a front end read, before any judgement. A nil pointer is an
// option that was not given; a list keeps empty elements, so that they can be
// refused.
type Raw struct {
	Server           *string
	Profiles         []string
	RequireTools     []string
	SettleMS         *string
	TimeoutMS        *string
	Jobs             *string
	Format           *string
	URL              *string
	AllowRemoteHTTP  bool
	Config           *string // an mcpServers file
	Acknowledge      []string
	ShowServerStderr bool
	Authorization    *string  // the Authorization header's value
	Command          []string // nil when there was none
	Dir              string   // where the server starts; empty: here
	Environ          []string // ours, as os.Environ has it; the server's is made from it
}

// Options are validated and never change after New. Exactly one of Command
// and Endpoint is set.
type Options struct {
	Server           string
	Profiles         []profile.Profile // in report order, at least one
	RequiredTools    []string          // sorted, unique
	Settle           time.Duration
	Timeout          time.Duration // one profile, the settle window not counted
	Jobs             int
	Format           Format
	Command          []string
	Environ          []string // the server's whole environment, KEY=VALUE
	Dir              string
	Endpoint         *url.URL
	Loopback         bool     // the endpoint must be reached on a loopback address
	Acknowledged     []string // sorted, unique
	ShowServerStderr bool
	Authorization    string
}

// Error is an invalid option. Neither field ever holds a value that was
// given: it may be a URL, a command or a secret.
type Error struct {
	// Option is the flag's name without dashes, "command" for COMMAND, or
	// "target" for the three that say which server to check.
	Option  string
	Problem string // what to correct
}

func (e *Error) Error() string {
	return e.Option + ": " + e.Problem
}

func invalid(option, format string, args ...any) *Error {
	return &Error{Option: option, Problem: fmt.Sprintf(format, args...)}
}

// NameGrammar says in words what ValidName accepts.
const NameGrammar = "1 to 128 characters out of A-Z a-z 0-9 _ . : -"

var namePattern = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,128}$`)

// ValidName reports whether s is a valid label or tool name
// (CONTRACT.md sections 2 and 4.3).
func ValidName(s string) bool {
	return len(s) <= MaxNameBytes && namePattern.MatchString(s)
}

// New validates everything, the combinations first. The error is always an
// *Error.
func New(raw Raw) (Options, error) {
	opts := Options{Environ: serverEnviron(raw.Environ)}
	if err := target(raw, &opts); err != nil {
		return Options{}, err
	}
	steps := []func(Raw, *Options) *Error{server, profiles, numbers, format, tools, authorization}
	for _, step := range steps {
		if err := step(raw, &opts); err != nil {
			return Options{}, err
		}
	}
	opts.Dir = raw.Dir
	opts.ShowServerStderr = raw.ShowServerStderr
	return opts, nil
}

func target(raw Raw, opts *Options) error {
	given := 0
	for _, is := range []bool{raw.URL != nil, raw.Command != nil, raw.Config != nil} {
		if is {
			given++
		}
	}
	if given == 0 {
		return invalid("target", "give one of them: it says which server to check")
	}
	if given > 1 {
		return invalid("target", "give exactly one of them, not several")
	}
	if raw.Config != nil {
		if raw.Server == nil {
			return invalid("server", "required: with --config it names the entry of the file")
		}
		entry, err := loadConfig(*raw.Config, *raw.Server, opts.Environ)
		if err != nil {
			return err
		}
		if entry.url != nil {
			raw.URL = entry.url
		}
		raw.Command, opts.Environ = entry.command, append(opts.Environ, entry.env...)
	}
	if raw.URL != nil {
		if err := endpoint(*raw.URL, raw.AllowRemoteHTTP, opts); err != nil {
			return err
		}
		return nil
	}
	if len(raw.Command) == 0 || raw.Command[0] == "" {
		return invalid("command", "empty: write the server's command after --")
	}
	for _, word := range raw.Command {
		if strings.ContainsRune(word, 0) {
			return invalid("command", "has a NUL character, which no command can have")
		}
	}
	opts.Command = slices.Clone(raw.Command)
	return nil
}

func server(raw Raw, opts *Options) *Error {
	if raw.Server == nil {
		return invalid("server", "required: a label for the report, %s", NameGrammar)
	}
	if !ValidName(*raw.Server) {
		return invalid("server", "must be %s", NameGrammar)
	}
	opts.Server = *raw.Server
	return nil
}

func profiles(raw Raw, opts *Options) *Error {
	if raw.Profiles == nil {
		opts.Profiles = profile.Every()
		return nil
	}
	chosen := map[profile.Profile]bool{}
	for _, name := range raw.Profiles {
		p, ok := profile.Parse(name)
		if !ok {
			return invalid("profile", "must be one of %s", join(profile.Every()))
		}
		chosen[p] = true
	}
	for _, p := range profile.Every() {
		if chosen[p] {
			opts.Profiles = append(opts.Profiles, p)
		}
	}
	if len(opts.Profiles) == 0 {
		return invalid("profile", "empty: leave it out for all five, or name some of %s", join(profile.Every()))
	}
	return nil
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
	opts.Settle = time.Duration(settle) * time.Millisecond
	opts.Timeout = time.Duration(timeout) * time.Millisecond
	opts.Jobs, err = number("jobs", raw.Jobs, MaxJobs, 1, MaxJobs)
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
	opts.Format = Text
	if raw.Format == nil {
		return nil
	}
	opts.Format = Format(*raw.Format)
	if !slices.Contains(formats, opts.Format) {
		return invalid("format", "must be one of %s", join(formats))
	}
	return nil
}

func tools(raw Raw, opts *Options) *Error {
	var err *Error
	if opts.RequiredTools, err = names("require-tool", raw.RequireTools); err != nil {
		return err
	}
	opts.Acknowledged, err = names("acknowledge", raw.Acknowledge)
	return err
}

func names(option string, list []string) ([]string, *Error) {
	for _, name := range list {
		if !ValidName(name) {
			return nil, invalid(option, "a tool's name must be %s; give the flag once for each tool", NameGrammar)
		}
	}
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return slices.Compact(sorted), nil
}

func authorization(raw Raw, opts *Options) *Error {
	if raw.Authorization == nil {
		return nil
	}
	value := *raw.Authorization
	if len(value) == 0 || len(value) > MaxAuthorizationBytes {
		return invalid("http-authorization", "must have 1 to %d bytes; unset it for a server without authorization", MaxAuthorizationBytes)
	}
	if hasControl(value) {
		return invalid("http-authorization", "must not have control characters, such as a line break at its end")
	}
	opts.Authorization = value
	return nil
}

func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// endpoint judges a URL by its text alone: no name is resolved before
// discovery, which checks the address that is actually dialled.
func endpoint(text string, allowRemote bool, opts *Options) *Error {
	bad := func(problem string) *Error { return invalid("url", "%s", problem) }
	if len(text) == 0 || len(text) > maxURLBytes || hasControl(text) {
		return bad("must be an http or https URL without control characters")
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return bad("must be a full http or https URL, such as http://127.0.0.1:3000/mcp")
	}
	if u.User != nil {
		return bad("must not have user information: put credentials into MCPEVAL_HTTP_AUTHORIZATION (input http-authorization)")
	}
	if strings.Contains(text, "#") {
		return bad("must not have a fragment")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return bad("must have a port from 1 to 65535")
		}
	}
	host := u.Hostname()
	addr, err := netip.ParseAddr(host)
	if err == nil && addr.IsUnspecified() {
		return bad("must name the server's address: 0.0.0.0 and [::] are only for listening, use 127.0.0.1")
	}
	opts.Endpoint = u
	opts.Loopback = strings.EqualFold(host, "localhost") || (err == nil && isLoopback(addr))
	switch {
	case opts.Loopback:
		return nil
	case u.Scheme != "https":
		return bad("plain http is for loopback only (localhost, 127.0.0.0/8, [::1]): use https and --allow-remote-http (input allow-remote-http: true) for a remote server")
	case !allowRemote:
		return bad("is not loopback: --allow-remote-http (input allow-remote-http: true) permits a remote server over https")
	}
	return nil
}

// isLoopback is 127.0.0.0/8 and ::1 in their own notation: no zone, no
// IPv4-mapped address (CONTRACT.md section 4.7).
func isLoopback(addr netip.Addr) bool {
	return addr.IsLoopback() && addr.Zone() == "" && !addr.Is4In6()
}

// serverEnviron leaves out the runner's command files and credentials: a
// server under test must not be able to write our outputs or read our tokens
// (CONTRACT.md section 4.6). An mcpServers file cannot refer to them either.
func serverEnviron(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "MCPEVAL_HTTP_AUTHORIZATION":
			return true
		}
		return strings.HasPrefix(name, "INPUT_") || strings.HasPrefix(name, "ACTIONS_")
	})
}

func join[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = string(item)
	}
	return strings.Join(texts, ", ")
}
