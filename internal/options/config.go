package options

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/org/mcpeval-guidance/internal/name"
)

// maxConfigBytes bounds an mcpServers file; real ones have a few KiB.
const maxConfigBytes = 1 << 20

// configTarget is the target that one entry of an mcpServers file names:
// either a URL or a command.
type configTarget struct {
	url     *string
	command []string
	env     []string
}

// configEntry is one server as .mcp.json, Claude Desktop and VS Code write
// it. Other keys (type, description, disabled and the like) do not change
// what is started.
type configEntry struct {
	Command *string            `json:"command"`
	Args    []*string          `json:"args"` // a null element is no string
	Env     map[string]*string `json:"env"`
	URL     *string            `json:"url"`
	Headers map[string]string  `json:"headers"`
	Cwd     *string            `json:"cwd"`
	EnvFile *string            `json:"envFile"`
}

func (e configEntry) hasNull() bool {
	return slices.Contains(e.Args, nil) || slices.Contains(slices.Collect(maps.Values(e.Env)), nil)
}

func configured(raw Raw, environ []string, given []Header) ([]Entry, *Error) {
	if raw.Server == nil {
		return nil, invalid("server", "required: with --config it names the entry of the file")
	}
	target, err := loadConfig(*raw.Config, *raw.Server, environ)
	if err != nil {
		return nil, err.(*Error)
	}
	if target.url != nil {
		e, err := endpoint("url", *target.url, raw.AllowRemoteHTTP)
		if err != nil {
			return nil, err
		}
		e.Headers = given
		return []Entry{{Label: name.Label(*raw.Server), Endpoint: e}}, nil
	}
	return []Entry{{Label: name.Label(*raw.Server), Launch: &Launch{Args: target.command, Env: append(environ, target.env...), Dir: raw.Dir}}}, usable("command", target.command)
}

// loadConfig reads the entry called name from an mcpServers file. Its errors
// name keys, never values.
func loadConfig(file, server string, environ []string) (configTarget, error) {
	bad := func(format string, args ...any) (configTarget, error) {
		return configTarget{}, invalid("config", format, args...)
	}
	data, err := readBounded(file, maxConfigBytes)
	if err != nil {
		return bad("the file cannot be read, or has more than 1 MiB")
	}
	var doc struct {
		MCPServers map[string]json.RawMessage `json:"mcpServers"`
		Servers    map[string]json.RawMessage `json:"servers"` // VS Code
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return bad("the file is not a JSON object with mcpServers (or servers, as VS Code has it); comments and trailing commas are not JSON")
	}
	servers, top := doc.MCPServers, "mcpServers"
	if servers == nil {
		servers, top = doc.Servers, "servers"
	}
	if servers == nil {
		return bad("the file has no key mcpServers (or servers, as VS Code has it)")
	}
	raw, ok := servers[server]
	if !ok {
		return bad("the file's %s has no entry of the name given as --server", top)
	}
	key := top + "." + safeKey(server)
	var entry configEntry
	if err := json.Unmarshal(raw, &entry); err != nil || entry.hasNull() {
		return bad("%s: command and url must be strings, args a list of strings, env an object of strings", key)
	}
	switch {
	case (entry.Command == nil) == (entry.URL == nil):
		return bad("%s: must have exactly one of command and url", key)
	case len(entry.Headers) > 0:
		return bad("%s.headers: not supported; give the Authorization header as MCPEVAL_HTTP_AUTHORIZATION (input http-authorization)", key)
	case entry.Cwd != nil:
		return bad("%s.cwd: not supported; start the check in that folder (input working-directory)", key)
	case entry.EnvFile != nil:
		return bad("%s.envFile: not supported; set the variables in the environment", key)
	}

	vars := environMap(environ)
	var failed error
	expand := func(key, value string) string {
		text, problem := expandVars(value, vars)
		if problem != "" && failed == nil {
			failed = invalid("config", "%s: %s", key, problem)
		}
		return text
	}
	var target configTarget
	if entry.URL != nil {
		url := expand(key+".url", *entry.URL)
		target.url = &url
	} else {
		target.command = []string{expand(key+".command", *entry.Command)}
		for _, arg := range entry.Args {
			target.command = append(target.command, expand(key+".args", *arg))
		}
	}
	for _, variable := range slices.Sorted(maps.Keys(entry.Env)) {
		if variable == "" || strings.ContainsAny(variable, "=\x00") {
			return bad("%s.env: a variable's name is empty or has a = in it", key)
		}
		value := expand(key+".env."+safeKey(variable), *entry.Env[variable])
		if strings.ContainsRune(value, 0) {
			return bad("%s.env.%s: has a NUL character", key, safeKey(variable))
		}
		target.env = append(target.env, variable+"="+value)
	}
	return target, failed
}

// reference is ${VAR}, ${VAR:-default} and VS Code's ${env:VAR}.
var reference = regexp.MustCompile(`\$\{([^}]*)\}`)

var referenceParts = regexp.MustCompile(`^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$`)

// expandVars replaces the references in text, once: what a variable holds is
// not looked into. A problem names the variable, never a value.
func expandVars(text string, vars map[string]string) (expanded, problem string) {
	expanded = reference.ReplaceAllStringFunc(text, func(ref string) string {
		parts := referenceParts.FindStringSubmatch(ref[2 : len(ref)-1])
		if parts == nil {
			problem = "has a ${...} that is neither ${VAR} nor ${VAR:-default}"
			return ""
		}
		value, set := vars[parts[1]]
		hasDefault := strings.Contains(ref, ":-")
		switch {
		case hasDefault && value == "":
			return parts[2]
		case !set:
			problem = "the variable " + parts[1] + " is not set in the server's environment; set it, or write ${" + parts[1] + ":-default}"
		}
		return value
	})
	return expanded, problem
}

func environMap(environ []string) map[string]string {
	vars := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			vars[name] = value
		}
	}
	return vars
}

// safeKey keeps a key that is a plain name and hides any other: a secret in
// the wrong place must not be echoed.
func safeKey(key string) string {
	if name.Valid(key) {
		return key
	}
	return "(an unusual name)"
}

func readBounded(file string, limit int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = os.ErrInvalid
	}
	return data, err
}
