package options

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// target is the steps for what is checked: the combinations first, then the
// headers, which are judged even where nothing is sent over HTTP.
func target(raw Raw, opts *Options) *Error {
	if err := combinations(raw); err != nil {
		return err
	}
	given, err := givenHeaders(raw)
	if err != nil {
		return err
	}
	environ := serverEnviron(raw.Environ)
	switch {
	case raw.Config != nil:
		opts.Target.Entries, err = configured(raw, environ, given)
	case raw.URL != nil:
		e, problem := endpoint(*raw.URL, raw.AllowRemoteHTTP)
		if problem != "" {
			return invalid("url", "%s", problem)
		}
		e.Headers = given
		opts.Target.Entries = []Entry{{Endpoint: e}}
	default:
		if err = usable("command", raw.Command); err == nil {
			opts.Target.Entries = []Entry{{Launch: &Launch{Args: slices.Clone(raw.Command), Env: environ, Dir: raw.Dir}}}
		}
	}
	if err != nil || raw.StartCommand == nil {
		return err
	}
	if !opts.Target.Entries[0].Endpoint.Loopback {
		return invalid("start-command", "needs a loopback url: the server runs in this container")
	}
	opts.Target.Start = &Launch{Args: slices.Clone(raw.StartCommand), Env: environ, Dir: raw.Dir}
	return usable("start-command", raw.StartCommand)
}

func combinations(raw Raw) *Error {
	given := 0
	for _, is := range []bool{raw.URL != nil, raw.Command != nil, raw.Config != nil} {
		if is {
			given++
		}
	}
	switch {
	case given == 0:
		return invalid("target", "give one of them: it says which server to check")
	case given > 1:
		return invalid("target", "give exactly one of them, not several")
	case raw.Entries != nil && raw.Config == nil:
		return invalid("entry", "needs {config}: it names an entry of that file")
	case raw.StartCommand != nil && raw.URL == nil:
		return invalid("start-command", "needs {url}: it starts the server that serves that URL")
	}
	return nil
}

func usable(option string, command []string) *Error {
	if len(command) == 0 || command[0] == "" {
		return invalid(option, "must begin with a program: {write-command}")
	}
	for _, word := range command {
		if strings.ContainsRune(word, 0) {
			return invalid(option, "has a NUL character, which no command can have")
		}
	}
	return nil
}

// endpoint judges a URL by its text alone: no name is resolved before
// discovery, which checks the address that is actually dialled. The problem is
// empty where there is none.
func endpoint(text string, allowRemote bool) (_ *Endpoint, problem string) {
	if len(text) == 0 || len(text) > maxURLBytes || hasControl(text) {
		return nil, "must be an http or https URL without control characters"
	}
	if strings.Contains(text, " ") {
		return nil, "must not have a blank: write %20"
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return nil, "must be a full http or https URL, such as http://127.0.0.1:3000/mcp"
	}
	if u.User != nil {
		return nil, "must not have user information: put credentials into {http-authorization}"
	}
	if strings.Contains(text, "#") {
		return nil, "must not have a fragment"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, "must have a port from 1 to 65535"
		}
	}
	host := u.Hostname()
	addr, err := netip.ParseAddr(host)
	if err == nil && addr.IsUnspecified() {
		return nil, "must name the server's address: 0.0.0.0 and [::] are only for listening, use 127.0.0.1"
	}
	e := &Endpoint{URL: u, Loopback: strings.EqualFold(host, "localhost") || (err == nil && isLoopback(addr))}
	switch {
	case !e.Loopback && u.Scheme != "https":
		return nil, "plain http is for loopback only (localhost, 127.0.0.0/8, [::1]): use https and {permit-remote} for a remote server"
	case !e.Loopback && !allowRemote:
		return nil, "is not loopback: {permit-remote} permits a remote server over https"
	}
	return e, ""
}

// isLoopback is 127.0.0.0/8 and ::1 in their own notation: no zone, no
// IPv4-mapped address (CONTRACT.md section 4.7).
func isLoopback(addr netip.Addr) bool {
	return addr.IsLoopback() && addr.Zone() == "" && !addr.Is4In6()
}

// serverEnviron leaves out the runner's command files and credentials: a
// server under test must not be able to write our outputs or read our tokens
// (CONTRACT.md section 4.6). A configuration file cannot refer to them either.
func serverEnviron(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		variable, _, _ := strings.Cut(entry, "=")
		return kept(variable)
	})
}

// kept reports whether a variable is kept from the server.
func kept(variable string) bool {
	switch variable {
	case "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "MCPEVAL_HTTP_AUTHORIZATION", "MCPEVAL_HTTP_HEADERS":
		return true
	}
	return slices.ContainsFunc([]string{"INPUT_", "ACTIONS_", "MCPEVAL_INPUT_"}, func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
}
