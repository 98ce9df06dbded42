//go:build linux

package e2e

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/org/mcpeval-guidance/internal/cli"
)

func init() { maps.Copy(scriptBehaviours, actionBehaviours) }

// oddNames are valid names of tools that look like workflow commands (case 20).
var oddNames = []string{"::error::x", "::set-output", "::stop-commands::y", "::add-mask::t", "::", "set-output", "::endgroup::"}

// actionBehaviours are the servers of the Action's tests.
var actionBehaviours = map[string]behaviour{
	// keeps what it was started with
	"keeps": func(p *peer) {
		p.note("environment", strings.Join(os.Environ(), "\x00")+"\x00")
		p.note("arguments", strings.Join(os.Args[2:], "\x00")+"\x00")
		dir, _ := os.Getwd()
		p.note("folder", dir+"\n")
		p.serve()
	},
	// lists tools whose names look like commands for clients that sample
	// only, and says everything that a runner must not read
	"odd-names": func(p *peer) {
		p.hello = hello(`"capabilities":{"tools":{}},"instructions":"c4n4ry\n::error::c4n4ry\n##[error]c4n4ry ` + "`" + strings.Join(oddNames, "` `") + "`" + `"`)
		p.page = func(string) string {
			if p.profile == "sampling" {
				return catalog(oddNames...)
			}
			return catalog("alpha")
		}
		io.WriteString(os.Stdout, "::error::c4n4ry\n##[error]c4n4ry\n%0A::notice::c4n4ry\n")
		io.WriteString(os.Stderr, "::error::c4n4ry\n##[error]c4n4ry\n")
		p.serve()
	},
	"odd-error": func(p *peer) {
		p.expect("initialize")
		p.send(`{"jsonrpc":"2.0","id":` + p.id + `,"error":{"code":-32000,"message":"c4n4ry\n::error::x\r##[error]z%0A::notice::y"}}`)
		p.serve()
	},
	"odd-version": func(p *peer) {
		p.hello = `{"protocolVersion":"c4n4ry\n::error::x","serverInfo":{"name":"::error::c4n4ry","version":"##[error]c4n4ry"},"capabilities":{}}`
		p.serve()
	},
	"odd-entry": entryIs(tool(`c4n4ry\n::error::x`)),
	// most that a report can hold
	"crowded": func(p *peer) {
		p.hello = hello(`"capabilities":{"tools":{}},"instructions":"` + "`" + strings.Join(longest(3000), "` `") + "`" + `"`)
		p.page = func(string) string {
			if p.profile == "all" {
				names := append(longest(3000), many(7000, 3000)...)
				return `{"tools":[{"inputSchema":{},"name":"` + strings.Join(names, `"},{"inputSchema":{},"name":"`) + `"}]}`
			}
			return `{"tools":[]}`
		}
		p.serve()
	},
	// mcp-server scribbles FILE...: writes into the runner's files
	"scribbles": func(p *peer) {
		p.note("scribbled", "x")
		scribble()
	},
	// mcp-server plants-git FILE...: leaves a git that does so
	"plants-git": func(p *peer) {
		script := "#!/bin/sh\nexec mcp-server scribbles " + strings.Join(os.Args[2:], " ") + "\n"
		os.WriteFile(filepath.Join(p.scratch, "git"), []byte(script), 0o777)
		gated(p)
	},
	// mcp-server blocks PATH: makes a folder where the report should go
	"blocks": func(p *peer) {
		os.MkdirAll(os.Args[2], 0o777)
		p.serve()
	},
	// the Action, with a fault inside
	"panicking-action": func(*peer) {
		os.Exit(cli.Main(nil, []string{"action"}, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})) //lint:ignore SA1012 that is the fault
	},
	// mcp-server serves ADDRESS WAY: a Streamable HTTP server
	"serves": func(p *peer) {
		p.note("arguments", strings.Join(os.Args[2:], "\x00")+"\x00")
		p.note("environment", strings.Join(os.Environ(), "\x00")+"\x00")
		fmt.Println("::error::c4n4ry ##[error]c4n4ry")
		fmt.Fprintln(os.Stderr, "::error::c4n4ry ##[error]c4n4ry")
		switch os.Args[3] {
		case "exits":
			return
		case "never":
			p.at("started")
			p.stall()
		case "stubborn":
			ignoreSignals()
			p.spawn("ignorant-sleeper", func(*exec.Cmd) {})
			p.spawn("daemon", func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} })
		}
		listener, err := net.Listen("tcp", os.Args[2])
		if err != nil {
			p.complain("%v", err)
		}
		// Case 27: the port is open while the server still starts.
		ready, status := time.Now(), 0
		switch way, number, _ := strings.Cut(os.Args[3], "-"); way {
		case "starting":
			status, _ = strconv.Atoi(number)
			ready = ready.Add(700 * time.Millisecond)
		case "broken":
			status, ready = http.StatusServiceUnavailable, ready.Add(time.Hour)
		}
		http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case time.Now().After(ready):
				serveGated(w, r)
			case status == 0: // a reset
				panic(http.ErrAbortHandler)
			default:
				w.WriteHeader(status)
			}
		}))
	},
}

func gated(p *peer) { act, _ := lookUp("gated"); act(p) }

func scribble() {
	for _, path := range os.Args[2:] {
		if f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0); err == nil {
			f.WriteString("passed=c4n4ry\nevil=c4n4ry\n")
			f.Close()
		}
	}
}

// longest are tools with the longest names there can be.
func longest(n int) []string {
	names := many(n, 0)
	for i, name := range names {
		names[i] = name + strings.Repeat("x", 128-len(name))
	}
	return names
}

// serveGated is the server gated over HTTP. The session id has the profile.
func serveGated(w http.ResponseWriter, r *http.Request) {
	p := &peer{scratch: os.Getenv(scratchVar)}
	p.note("authorization", r.Header.Get("Authorization")+"\n")
	body, _ := io.ReadAll(r.Body)
	sampling := r.Header.Get("Mcp-Session-Id") == "sampling"
	w.Header().Set("Content-Type", "application/json")
	switch text := string(body); {
	case strings.Contains(text, `"initialize"`):
		session := "other"
		if strings.Contains(text, `"sampling"`) {
			session = "sampling"
		}
		w.Header().Set("Mcp-Session-Id", session)
		io.WriteString(w, response("1", hello(`"capabilities":{"tools":{}},"instructions":"Call `+"`search`, then `summarize`"+`. c4n4ry"`)))
	case strings.Contains(text, `"tools/list"`) && sampling:
		io.WriteString(w, response("2", catalog("search", "summarize")))
	case strings.Contains(text, `"tools/list"`):
		io.WriteString(w, response("2", catalog("search")))
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// unused returns an address on which nobody listens: a loopback address that no
// other test has, where no port is given away meanwhile.
func unused(t *testing.T) string {
	t.Helper()
	n := hosts.Add(1)
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d:20765", 1+pid>>8%254, pid%256, 1+n%254) // below the ports that are given away
}

var hosts atomic.Uint32

// step is one step of a workflow that uses the Action.
type step struct {
	t         *testing.T
	workspace string
	files     string            // the folder of the runner's command files
	inputs    map[string]string // by the name in action.yml
	env       []string
	stdout    *os.File
	scratch   string
	container bool
	namespace bool
	inherited []*os.File
}

// newStep has a workspace and the runner's files; inputs are name, value, ...
func newStep(t *testing.T, inputs ...string) *step {
	t.Helper()
	s := &step{t: t, workspace: t.TempDir(), files: t.TempDir(), scratch: t.TempDir(), inputs: map[string]string{"settle-ms": "0", "profiles": "none sampling"}}
	s.set(inputs...)
	for _, name := range []string{"output", "summary", "env", "path", "state"} {
		s.put(filepath.Join(s.files, name), "")
	}
	return s
}

func (s *step) set(inputs ...string) *step {
	for i := 0; i < len(inputs); i += 2 {
		s.inputs[inputs[i]] = inputs[i+1]
	}
	return s
}

func (s *step) file(name string) string { return filepath.Join(s.files, name) }

func (s *step) put(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

// environ is what the runner gives to a container, with tokens that must not
// go on to a server.
func (s *step) environ() []string {
	environ := []string{
		"GITHUB_ACTIONS=true", "GITHUB_WORKSPACE=" + s.workspace, "GITHUB_REPOSITORY=owner/example",
		"GITHUB_OUTPUT=" + s.file("output"), "GITHUB_STEP_SUMMARY=" + s.file("summary"),
		"GITHUB_ENV=" + s.file("env"), "GITHUB_PATH=" + s.file("path"), "GITHUB_STATE=" + s.file("state"),
		"ACTIONS_RUNTIME_TOKEN=c4n4ry-token", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=c4n4ry-token",
	}
	for name, value := range s.inputs {
		environ = append(environ, "INPUT_"+strings.ToUpper(name)+"="+value)
	}
	return append(environ, s.env...)
}

func (s *step) start() *running {
	s.t.Helper()
	return invocation{args: []string{"action"}, env: s.environ(), dir: s.workspace, stdout: s.stdout, scratch: s.scratch, container: s.container, namespace: s.namespace, inherited: s.inherited}.start(s.t)
}

func (s *step) run() stepResult {
	s.t.Helper()
	return s.result(s.start().wait())
}

// stepResult is what a step leaves to the runner.
type stepResult struct {
	result
	outputs  map[string]string
	summary  string
	report   string // the content of the default report; empty where there is none
	commands []workflowCommand
	lines    []string // of the log, those that are no commands
}

// result reads what a step has left, and fails the test for what none may
// leave: a word of the server, a stray command, a file of the runner written.
func (s *step) result(r result) stepResult {
	s.t.Helper()
	out := stepResult{result: r, summary: read(s.file("summary")), report: read(filepath.Join(s.workspace, "mcpeval-guidance.json"))}
	out.commands, out.lines = readLog(s.t, r.stdout)
	if r.stderr != "" {
		s.t.Errorf("stderr is not empty: %q", r.stderr)
	}
	out.outputs = map[string]string{}
	for line := range strings.Lines(read(s.file("output"))) {
		name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if _, twice := out.outputs[name]; !ok || twice {
			s.t.Errorf("the outputs have the line %q", line)
		}
		out.outputs[name] = value
	}
	for _, name := range []string{"env", "path", "state"} {
		if text := read(s.file(name)); text != "" {
			s.t.Errorf("the runner's file %s holds %q", name, text)
		}
	}
	for name, text := range map[string]string{"log": r.stdout, "summary": out.summary, "report": out.report, "outputs": read(s.file("output"))} {
		if at := strings.Index(strings.ToLower(text), canary); at >= 0 {
			s.t.Errorf("the %s holds a word of the server: ...%q...", name, text[max(0, at-60):min(len(text), at+60)])
		}
	}
	return out
}

func read(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// workflowCommand is a command in the log as the runner reads it.
type workflowCommand struct {
	name    string
	fields  map[string]string
	message string
}

// readLog reads a log as the runner's ActionCommand.cs does and fails the
// test for a command that is none of ours.
func readLog(t *testing.T, text string) (commands []workflowCommand, lines []string) {
	t.Helper()
	data := strings.NewReplacer("%0A", "\n", "%0D", "\r", "%25", "%", "%3A", ":", "%2C", ",")
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(line, "##[") || strings.Contains(line, "\r") {
			t.Errorf("the log has the line %q", line)
		}
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "::")
		if !ok {
			lines = append(lines, line)
			continue
		}
		head, message, ok := strings.Cut(rest, "::")
		name, fields, _ := strings.Cut(head, " ")
		switch name {
		case "add-mask", "group", "endgroup", "error", "warning", "notice":
		default:
			ok = false
		}
		if !ok {
			t.Errorf("the log has a stray command: %q", line)
			continue
		}
		c := workflowCommand{name, map[string]string{}, data.Replace(message)}
		for field := range strings.SplitSeq(fields, ",") {
			if key, value, ok := strings.Cut(field, "="); ok {
				c.fields[key] = data.Replace(value)
			}
		}
		commands = append(commands, c)
	}
	return commands, lines
}

// annotations are the commands of a kind.
func (r stepResult) annotations(kind string) (list []workflowCommand) {
	for _, c := range r.commands {
		if c.name == kind {
			list = append(list, c)
		}
	}
	return list
}

// ends fails the test unless the step ended so; the log's last line says it
// in words.
func (r stepResult) ends(t *testing.T, exit int) {
	t.Helper()
	if r.exit != exit {
		t.Errorf("exit status %d, want %d; log:\n%s", r.exit, exit, r.stdout)
	}
	if len(r.lines) == 0 || !strings.HasPrefix(r.lines[len(r.lines)-1], fmt.Sprintf("Exit status %d: ", exit)) || !strings.HasSuffix(r.stdout, r.lines[len(r.lines)-1]+"\n") {
		t.Errorf("the log does not end with the exit status %d:\n%s", exit, r.stdout)
	}
}
