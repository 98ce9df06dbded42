package options

import (
	"slices"
	"strings"

	"github.com/org/mcpeval-guidance/internal/configfile"
	"github.com/org/mcpeval-guidance/internal/name"
)

// configured returns the entries of a configuration file that were asked for
// (CONTRACT.md section 9). The given headers win over the file's.
func configured(raw Raw, environ []string, given []Header) ([]Entry, *Error) {
	file, err := configfile.Read(*raw.Config, raw.Confine)
	if err != nil {
		return nil, invalid("config", "%s", err)
	}
	chosen, problem := choose(raw, file)
	if problem != nil {
		return nil, problem
	}
	vars := configfile.Variables{Environ: variables(environ), Inputs: variables(raw.Environ), Kept: kept}
	var entries []Entry
	for _, c := range chosen {
		entry := Entry{Label: c.Label()}
		if entry.Label == "" {
			return nil, invalid("entry", "an entry's key must not be empty: it names the entry in the report")
		}
		if slices.ContainsFunc(entries, func(e Entry) bool { return e.Label == entry.Label }) {
			return nil, invalid("entry", "two entries would have the label %s in the report: rename one of them in the file", entry.Label)
		}
		server, err := c.Resolve(vars, raw.Dir)
		if err != nil {
			return nil, invalid("config", "%s", err)
		}
		if server.Command != nil {
			entry.Launch = &Launch{Args: server.Command, Env: overlay(environ, server.Env), Dir: server.Dir}
		} else if entry.Endpoint, problem = remote(server, raw, given); problem != nil {
			return nil, problem
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// choose returns the entries that --entry names, in that order and each once;
// without it the one that is named as the server, else the only one.
func choose(raw Raw, file *configfile.File) ([]configfile.Entry, *Error) {
	find := func(key string) int {
		return slices.IndexFunc(file.Entries, func(e configfile.Entry) bool { return e.Key == key })
	}
	if raw.Entries == nil {
		server := raw.DefaultServer
		if raw.Server != nil {
			server = *raw.Server
		}
		if i := find(server); i >= 0 && server != "" {
			return file.Entries[i : i+1], nil
		}
		if len(file.Entries) > 1 {
			return nil, invalid("entry", "the file has several entries and none is named as {server}: choose out of %s", labels(file))
		}
		return file.Entries, nil
	}
	var chosen []configfile.Entry
	var seen []string
	for _, key := range raw.Entries {
		i := find(key)
		switch {
		case i < 0:
			return nil, invalid("entry", "the file has no such entry: write a key just as the file has it. Its entries, by label: %s", labels(file))
		case !slices.Contains(seen, key):
			seen = append(seen, key)
			chosen = append(chosen, file.Entries[i])
		}
	}
	if chosen == nil {
		return nil, invalid("entry", "empty: leave it out, or choose out of %s", labels(file))
	}
	return chosen, nil
}

// labels names a file's entries for a message, the first twenty.
func labels(file *configfile.File) string {
	const most = 20
	var list []name.Name
	for _, e := range file.Entries {
		list = append(list, e.Label())
	}
	if len(list) > most {
		return join(list[:most]) + " and others"
	}
	return join(list)
}

func remote(server configfile.Server, raw Raw, given []Header) (*Endpoint, *Error) {
	e, problem := endpoint(server.URL, raw.AllowRemoteHTTP)
	if problem != "" {
		return nil, invalid("config", "%s: its URL: %s", server.Where, problem)
	}
	for _, h := range server.Headers {
		problem := headerProblem(h.Name, h.Value)
		if problem == "" && holds(e.Headers, h.Name) {
			problem = "one header is there twice"
		}
		if problem != "" {
			return nil, invalid("config", "%s.headers: %s", server.Where, problem)
		}
		e.Headers = append(e.Headers, Header{h.Name, NewSecret(h.Value)})
	}
	most := MaxHeaders
	if raw.Authorization != nil {
		most++ // it is none of the headers that are counted
	}
	if e.Headers = merge(e.Headers, given); len(e.Headers) > most {
		return nil, invalid("config", "%s.headers: more than %d headers with those of {http-headers}", server.Where, MaxHeaders)
	}
	return e, nil
}

// variables splits KEY=VALUE. Of a repeated key the last counts, as for a
// started program.
func variables(environ []string) map[string]string {
	vars := make(map[string]string, len(environ))
	for _, entry := range environ {
		if variable, value, ok := strings.Cut(entry, "="); ok {
			vars[variable] = value
		}
	}
	return vars
}

// overlay returns environ with more in place of what it has by the same name.
func overlay(environ, more []string) []string {
	replaced := variables(more)
	base := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		variable, _, _ := strings.Cut(entry, "=")
		_, is := replaced[variable]
		return is
	})
	return append(base, more...)
}
