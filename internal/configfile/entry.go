package configfile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/go-envparse"
)

// Server is what an entry starts or calls: exactly one of Command and URL is
// set.
type Server struct {
	Command []string // the program first
	Env     []string // KEY=VALUE, beside the environment; no key twice
	Dir     string   // where the command starts, absolute
	URL     string
	Headers []Header // in the file's order
	Where   string   // the entry, for messages
}

// Header is an HTTP header as the file has it, variables replaced.
type Header struct{ Name, Value string }

// urlKeys are the names of the URL in the files of different clients.
var urlKeys = []string{"url", "serverUrl", "httpUrl"}

var knownKeys = append([]string{"command", "args", "env", "headers", "cwd", "type", "envFile"}, urlKeys...)

// foreignKeys are what other programs call a known key: ignored, they would
// change what is checked without a word.
var foreignKeys = map[string]string{
	"arguments": "args", "parameters": "args", "cmd": "command", "executable": "command", "program": "command", "shell_command": "command",
	"environment": "env", "environmentVariables": "env", "environment_variables": "env", "envVars": "env", "env_vars": "env",
	"env_file": "envFile", "dotenv": "envFile",
	"link": "url", "uri": "url", "endpoint": "url", "server_url": "url", "http_url": "url", "baseUrl": "url", "base_url": "url",
	"http_headers": "headers", "httpHeaders": "headers", "requestHeaders": "headers",
	"workingDirectory": "cwd", "working_directory": "cwd", "workingDir": "cwd", "working_dir": "cwd", "workdir": "cwd", "workDir": "cwd",
}

// meant returns the known key that an unknown one stands for, if any.
func meant(key string) string {
	if known := foreignKeys[key]; known != "" {
		return known
	}
	for _, known := range knownKeys {
		if strings.EqualFold(key, known) || oneEditApart(key, known) {
			return known
		}
	}
	return ""
}

// oneEditApart reports whether one letter is missing, too many, another, or
// two neighbours are swapped.
func oneEditApart(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	swapped := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	return swapped || i < len(a) && a[i+1:] == b[i+1:]
}

// resolving is an entry on its way to a Server.
type resolving struct {
	Entry
	vars    Variables
	members object
}

// Resolve judges the entry and replaces its variables. A dir that is not empty
// overrides where the command starts.
func (e Entry) Resolve(vars Variables, dir string) (s Server, err error) {
	defer func() { s.Where = fmt.Sprintf("line %d: %s", e.node.line, e.path) }()
	members, err := e.node.object(e.path)
	if err != nil {
		return Server{}, err
	}
	r := resolving{e, vars, members}
	for _, m := range members {
		if known := meant(m.key); !slices.Contains(knownKeys, m.key) && known != "" && !m.node.absent() {
			return Server{}, fmt.Errorf("line %d: %s has %s, which is not a key of this file: write %s", m.line, e.path, safe(m.key), known)
		}
	}
	if err := r.transport(); err != nil {
		return Server{}, err
	}
	var given []string
	for _, key := range append([]string{"command"}, urlKeys...) {
		if !r.empty(key) {
			given = append(given, key)
		}
	}
	switch {
	case len(given) == 0:
		return Server{}, fmt.Errorf("line %d: %s has neither command nor url", e.node.line, e.path)
	case len(given) > 1:
		return Server{}, fmt.Errorf("line %d: %s has %s: keep one of them", e.node.line, e.path, strings.Join(given, " and "))
	case given[0] == "command":
		return r.command(dir)
	}
	if s.URL, err = r.string(given[0]); err != nil {
		return Server{}, err
	}
	s.Headers, err = r.headers()
	return s, err
}

// empty reports whether a key has null or an empty string, or is not there.
func (r resolving) empty(key string) bool {
	n := r.members.get(key)
	text, ok := n.text()
	return n.absent() || ok && text == ""
}

// string reads a key's string, with its variables replaced; "" when absent.
func (r resolving) string(key string) (string, error) {
	if r.empty(key) {
		return "", nil
	}
	return r.expanded(r.members.get(key), r.path+"."+key)
}

func (r resolving) expanded(n node, path string) (string, error) {
	text, err := n.string(path)
	if err != nil {
		return "", err
	}
	if text, err = r.file.expand(text, r.vars); err != nil {
		return "", fmt.Errorf("line %d: %s: %w", n.line, path, err)
	}
	return text, nil
}

func (r resolving) problem(key, format string, args ...any) error {
	return fmt.Errorf("line %d: %s.%s %s", r.members.get(key).line, r.path, key, fmt.Sprintf(format, args...))
}

func (r resolving) transport() error {
	if r.empty("type") {
		return nil
	}
	kind, err := r.members.get("type").string(r.path + ".type")
	if err != nil {
		return err
	}
	switch strings.ToLower(kind) {
	case "sse":
		return r.problem("type", "is sse, a transport that is not spoken: serve Streamable HTTP, and write http")
	case "stdio", "local", "http", "streamable-http", "streamablehttp", "streamable_http", "remote":
		return nil
	}
	return r.problem("type", "must be stdio or http")
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

func (r resolving) command(dir string) (s Server, err error) {
	raw, err := r.members.get("command").string(r.path + ".command")
	if err != nil {
		if r.members.get("command").kind() == "a list" {
			err = r.problem("command", `must be a string, not a list: write the program, and what follows it as "args": [...]`)
		}
		return s, err
	}
	args := r.members.get("args")
	switch program := strings.ToLower(raw); {
	case program == "cmd" || program == "cmd.exe":
		return s, r.problem("command", "is cmd, the shell of Windows: write the program that it starts, and the rest as args")
	case program == "cd" || strings.HasPrefix(program, "cd "):
		return s, r.problem("command", "is cd, which only a shell has: write the folder as cwd, and the program as command")
	case assignment.MatchString(raw):
		return s, r.problem("command", "begins with NAME=value, which only a shell reads: write it as env")
	case strings.HasPrefix(raw, "~/"):
		return s, r.problem("command", "begins with ~/, which only a shell reads: write ${userHome}/")
	case args.absent() && strings.ContainsAny(strings.TrimSpace(raw), " \t\n"):
		return s, r.problem("command", `has blanks: write the program alone, and the rest as "args": [...] ("args": [] where the program's own name has blanks)`)
	}
	program, err := r.string("command")
	if err != nil {
		return s, err
	}
	if program == "" {
		return s, r.problem("command", "is empty with its variables replaced")
	}
	s.Command = []string{program}
	if !args.absent() {
		list, err := args.list(r.path + ".args")
		if err != nil {
			return s, err
		}
		for i, n := range list {
			arg, err := r.expanded(n, fmt.Sprintf("%s.args[%d]", r.path, i))
			if err != nil {
				return s, err
			}
			s.Command = append(s.Command, arg)
		}
	}
	if s.Env, err = r.environment(); err != nil {
		return s, err
	}
	s.Dir, err = r.folder(dir)
	return s, err
}

// environment is envFile, with env over it, in order of the names.
func (r resolving) environment() ([]string, error) {
	env, err := r.envFile()
	if err != nil {
		return nil, err
	}
	if n := r.members.get("env"); !r.empty("env") {
		members, err := n.object(r.path + ".env")
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			path := r.path + ".env." + safe(m.key)
			if m.key == "" || strings.ContainsAny(m.key, "=\x00") {
				return nil, fmt.Errorf("line %d: %s.env: a variable's name is empty or has a = in it", m.line, r.path)
			}
			if m.node.absent() {
				continue
			}
			if env[m.key], err = r.expanded(m.node, path); err != nil {
				return nil, err
			}
			if strings.ContainsRune(env[m.key], 0) {
				return nil, fmt.Errorf("line %d: %s has a NUL character", m.line, path)
			}
		}
	}
	var list []string
	for _, key := range slices.Sorted(maps.Keys(env)) {
		list = append(list, key+"="+env[key])
	}
	return list, nil
}

// envFile reads dotenv lines: NAME=value, export, # comments, single quotes,
// and double quotes with JSON's escapes. Nothing in them is expanded.
func (r resolving) envFile() (map[string]string, error) {
	file, err := r.string("envFile")
	if err != nil || file == "" {
		return map[string]string{}, err
	}
	path := r.file.from(file)
	if err := r.file.inside(path); err != nil {
		return nil, r.problem("envFile", "%s", err)
	}
	data, err := readRegular(path)
	if err != nil {
		return nil, fmt.Errorf("line %d: %s.envFile: %w", r.members.get("envFile").line, r.path, err)
	}
	env, err := envparse.Parse(bytes.NewReader(data))
	var broken *envparse.ParseError
	if errors.As(err, &broken) {
		return nil, r.problem("envFile", "has a line that is not NAME=value, with quotes closed (its line %d)", broken.Line)
	}
	if err != nil {
		return nil, r.problem("envFile", "cannot be read")
	}
	for key, value := range env {
		// envparse cuts within a character that stands before a comment.
		if !utf8.ValidString(value) {
			return nil, r.problem("envFile", "has a comment behind the value of %s: give it a line of its own", safe(key))
		}
	}
	return env, nil
}

// from makes a path absolute: it is relative to the project.
func (f *File) from(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(f.project, filepath.FromSlash(path))
}

// folder is where the command starts.
func (r resolving) folder(override string) (string, error) {
	if override != "" {
		return override, nil
	}
	cwd, err := r.string("cwd")
	if err != nil {
		return "", err
	}
	folder := r.file.from(cwd)
	if err := r.file.inside(folder); err != nil {
		if cwd == "" {
			return "", fmt.Errorf("the file's project, where the command starts, %w", err)
		}
		return "", r.problem("cwd", "%s", err)
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", r.problem("cwd", "is no folder of the project")
	}
	return folder, nil
}

func (r resolving) headers() ([]Header, error) {
	if r.empty("headers") {
		return nil, nil
	}
	members, err := r.members.get("headers").object(r.path + ".headers")
	if err != nil {
		return nil, err
	}
	var list []Header
	for _, m := range members {
		text, ok := m.node.text()
		if m.node.absent() || ok && text == "" {
			continue
		}
		value, err := r.expanded(m.node, r.path+".headers."+safe(m.key))
		if err != nil {
			return nil, err
		}
		list = append(list, Header{m.key, value})
	}
	return list, nil
}
