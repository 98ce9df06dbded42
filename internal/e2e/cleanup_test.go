//go:build linux

package e2e

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// kinds are the ways in which a server does not want to end, or leaves
// something behind. Every one is a server that is good otherwise.
var kinds = map[string]func(*peer){
	"well-behaved": func(*peer) {},
	"ignores-the-end-of-stdin": func(p *peer) { // case 6
		p.atEOF = p.stall
	},
	"ignores-everything": func(p *peer) { // case 6
		ignoreSignals()
		p.atEOF = p.stall
	},
	"child-holds-stdout": func(p *peer) { // case 6
		p.spawn("ignorant-sleeper", func(c *exec.Cmd) { c.Stdout, c.Stderr = os.Stdout, os.Stderr })
	},
	// A daemon as the book has it: it leaves the group, and its parent ends.
	"leaves-a-daemon": func(p *peer) {
		p.spawn("daemon", func(c *exec.Cmd) {
			c.Stdout = os.Stdout
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		})
	},
	// A daemon that is another process every few milliseconds.
	"leaves-a-moving-daemon": func(p *peer) {
		p.spawn("moving-daemon", func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} })
	},
}

var cleanupBehaviours = map[string]behaviour{
	"sleeper":          (*peer).stall,
	"ignorant-sleeper": func(p *peer) { ignoreSignals(); p.stall() },
	"daemon": func(p *peer) {
		p.spawn("ignorant-sleeper", func(c *exec.Cmd) {
			c.Stdout = os.Stdout
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		})
	},
	"moving-daemon": func(p *peer) {
		ignoreSignals()
		time.Sleep(10 * time.Millisecond)
		p.spawn("moving-daemon", func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} })
	},
	// mcp-server clings KIND WAY: a kind that goes a way.
	"clings": func(p *peer) {
		kinds[os.Args[2]](p)
		switch way := os.Args[3]; way {
		case "exit":
			p.initialize()
		case "malformed":
			helloText("{\"jsonrpc\":\"2.0\"}\n")(p)
		case "garbage":
			endless(strings.Repeat("c4n4ry", 1000))
		case "deaf and dumb":
			p.stall()
		case initialize:
			p.expect("initialize")
			p.at(way)
			p.hang()
		case settling:
			p.initialize()
			p.at(way)
			p.hang()
		case listing:
			p.initialize()
			p.expect("tools/list")
			p.at(way)
			p.hang()
		case "page 2":
			p.page = pageOfMany
			p.initialize()
			p.list()
			p.expect("tools/list")
			p.at(way)
			p.hang()
		case "closing":
			p.atEOF = func() { p.at(way); p.stall() }
			p.serve()
		default:
			p.serve()
		}
	},
}

func ignoreSignals() { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP) }

// stages is where servers say how far they have come.
type stages struct {
	t      *testing.T
	file   *os.File
	reader *bufio.Reader
}

func newStages(t *testing.T, scratch string) *stages {
	t.Helper()
	path := filepath.Join(scratch, "stages")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	// Opened for writing too: it never ends.
	file, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return &stages{t, file, bufio.NewReader(file)}
}

// await waits until a server has come to that stage.
func (s *stages) await(stage string) {
	s.t.Helper()
	s.file.SetReadDeadline(time.Now().Add(30 * time.Second))
	if line, err := s.reader.ReadString('\n'); err != nil || line != stage+"\n" {
		s.t.Errorf("stage %q, %v; not %q", line, err, stage)
	}
}

// wrappers put a server behind a shell that waits for it, one that becomes
// it, or two that ignore signals.
var wrappers = map[string]func(words ...string) []string{
	"": func(words ...string) []string { return words },
	"sh": func(words ...string) []string {
		return append([]string{"sh", "-c", `"$@"; exit $?`, "sh"}, words...)
	},
	"sh-exec": func(words ...string) []string {
		return append([]string{"sh", "-c", `exec "$@"`, "sh"}, words...)
	},
	"sh-sh": func(words ...string) []string {
		return append([]string{"sh", "-c", `trap '' TERM INT; sh -c '"$@"; :' sh "$@"; :`, "sh"}, words...)
	},
}

// TestNothingIsLeft goes out of a run in every way, with every kind of server.
// invocation.run looks at the process table after each.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for kind := range kinds {
		for _, way := range []struct {
			name    string
			timeout string
			exit    int
			code    string
		}{
			{name: "success"},
			{name: "exit", exit: 3, code: "transport-closed"},
			{name: "malformed", exit: 3, code: "message-malformed"},
			{name: "garbage", exit: 3, code: "frame-limit"},
			{name: "deaf and dumb", timeout: "1000", exit: 3, code: "timeout"},
		} {
			for wrapper, wrap := range wrappers {
				if wrapper != "" && kind != "ignores-everything" && way.name != "success" {
					continue
				}
				t.Run(way.name+" "+kind+" "+wrapper, func(t *testing.T) {
					t.Parallel()
					timeout := "20000"
					if way.timeout != "" {
						timeout = way.timeout
					}
					r := mcpeval(t, append([]string{"guidance", "--server", "x", "--settle-ms", "0", "--timeout-ms", timeout, "--profile", "all", "--"},
						wrap("mcp-server", "clings", kind, way.name)...)...)
					if got := r.diagnoses()["all"].code; r.exit != way.exit || got != way.code {
						t.Errorf("exit status %d, diagnosis %q, not %d, %q: %s", r.exit, got, way.exit, way.code, r.stderr)
					}
					r.noCanary(t)
					endedSoon(t, r.elapsed)
				})
			}
		}
	}
}

// endedSoon: a few seconds is what the most stubborn server is worth.
func endedSoon(t *testing.T, took time.Duration) {
	t.Helper()
	if took > 15*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestInterrupted sends a signal at every stage: 128 plus its number, no
// report, nothing left running.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{initialize, settling, listing, "page 2", "closing"} {
		for kind := range kinds {
			for wrapper, wrap := range wrappers {
				// Whatever else is closed may be gone before the signal is there.
				if kind != "ignores-everything" && (wrapper != "" || stage == "closing") {
					continue
				}
				t.Run(stage+" "+kind+" "+wrapper, func(t *testing.T) {
					t.Parallel()
					in := invocation{scratch: t.TempDir()}
					settle := "0"
					if stage == settling {
						settle = "5000"
					}
					in.args = append([]string{"guidance", "--server", "x", "--settle-ms", settle, "--profile", "all", "--"},
						wrap("mcp-server", "clings", kind, stage)...)
					stages := newStages(t, in.scratch)
					number := syscall.SIGINT
					if len(kind)%2 == 0 {
						number = syscall.SIGTERM
					}
					running := in.start(t)
					stages.await(stage)
					interrupt(t, running, 128+int(number), number)
				})
			}
		}
	}
}

// interrupt sends signals and judges how the run ends.
func interrupt(t *testing.T, running *running, exit int, signals ...syscall.Signal) {
	t.Helper()
	sent := time.Now()
	for _, number := range signals {
		if err := running.cmd.Process.Signal(number); err != nil {
			t.Error(err)
		}
	}
	r := running.wait()
	if r.exit != exit {
		t.Errorf("exit status %d, not %d: %s", r.exit, exit, r.stderr)
	}
	if r.stdout != "" || r.stderr != "" {
		t.Errorf("stdout %q, stderr %q after an interrupt", r.stdout, r.stderr)
	}
	endedSoon(t, time.Since(sent))
}

// TestInterruptedFive: with all five profiles at work, by either signal, and
// by a person who presses the keys again and again.
func TestInterruptedFive(t *testing.T) {
	t.Parallel()
	ways := map[string][]syscall.Signal{
		"int":   {syscall.SIGINT},
		"term":  {syscall.SIGTERM},
		"twice": {syscall.SIGINT, syscall.SIGINT, syscall.SIGINT},
	}
	// Under nohup it is ignored, by us too.
	if !signal.Ignored(syscall.SIGHUP) {
		ways["hup"] = []syscall.Signal{syscall.SIGHUP}
	}
	for name, signals := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := invocation{scratch: t.TempDir(), args: []string{"guidance", "--server", "x", "--settle-ms", "0", "--", "mcp-server", "clings", "ignores-everything", listing}}
			stages := newStages(t, in.scratch)
			running := in.start(t)
			for range 5 {
				stages.await(listing)
			}
			interrupt(t, running, 128+int(signals[0]), signals...)
		})
	}
}

// TestDemoInterrupted: the demo is started as any other server.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	in := invocation{args: []string{"demo", "--settle-ms", "5000"}}
	in.scratch = t.TempDir()
	running := in.start(t)
	isServer := func(p process) bool { return strings.Contains(p.command, "demo-server") }
	for !slices.ContainsFunc(survivors(in.scratch), isServer) {
		if running.ctx.Err() != nil {
			t.Fatal("no server was started")
		}
		time.Sleep(5 * time.Millisecond)
	}
	interrupt(t, running, 130, syscall.SIGINT)
}

// TestBrokenStreams: a report that cannot be written is status 3, an
// unreadable stderr changes nothing, and either way nothing is left.
func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	broken := func(t *testing.T) *os.File {
		t.Helper()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		t.Cleanup(func() { w.Close() })
		return w
	}
	full := func(t *testing.T) *os.File {
		t.Helper()
		f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	// What the Go runtime makes of a descriptor that the caller closed.
	closed := func(t *testing.T) *os.File {
		t.Helper()
		f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	for _, row := range []struct {
		name           string
		stdout, stderr func(*testing.T) *os.File
		kind, way      string
		exit           int
	}{
		{name: "stdout", stdout: broken, kind: "well-behaved", way: "success", exit: 3},
		{name: "stdout, stubborn", stdout: broken, kind: "ignores-everything", way: "success", exit: 3},
		{name: "stdout, daemon", stdout: broken, kind: "leaves-a-daemon", way: "success", exit: 3},
		{name: "stdout, fault", stdout: broken, kind: "ignores-everything", way: "malformed", exit: 3},
		{name: "stdout, full", stdout: full, kind: "ignores-everything", way: "success", exit: 3},
		{name: "stderr", stderr: broken, kind: "ignores-everything", way: "success", exit: 0},
		{name: "stderr, fault", stderr: broken, kind: "ignores-everything", way: "malformed", exit: 3},
		{name: "both, fault", stdout: broken, stderr: broken, kind: "leaves-a-daemon", way: "malformed", exit: 3},
		{name: "stdout, closed", stdout: closed, kind: "ignores-everything", way: "success", exit: 3},
		{name: "both", stdout: broken, stderr: full, kind: "leaves-a-daemon", way: "success", exit: 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			in := invocation{args: []string{"guidance", "--server", "x", "--settle-ms", "0", "--profile", "all", "--format", "json", "--", "mcp-server", "clings", row.kind, row.way}}
			if row.stdout != nil {
				in.stdout = row.stdout(t)
			}
			if row.stderr != nil {
				in.stderr = row.stderr(t)
			}
			r := in.run(t)
			if r.exit != row.exit {
				t.Errorf("exit status %d, not %d: %s", r.exit, row.exit, r.stderr)
			}
			if row.stdout == nil {
				r.report(t)
			}
			if row.stdout != nil && row.stderr == nil && !strings.Contains(r.stderr, "could not be written to stdout") {
				t.Errorf("stderr: %s", r.stderr)
			}
		})
	}
	t.Run("closed by a shell", func(t *testing.T) {
		t.Parallel()
		words := `mcpeval guidance --server x --settle-ms 0 --profile all --format json -- mcp-server gated `
		for redirection, exit := range map[string]int{">&-": 3, ">/dev/null": 0, ">/dev/null 2>&1 </dev/null": 0, "0<>/dev/null >&0 2>&0": 0} {
			shell := exec.Command("sh", "-c", words+redirection)
			shell.Env = append(os.Environ(), scratchVar+"="+t.TempDir())
			err := shell.Run()
			var ended *exec.ExitError
			if status := 0; errors.As(err, &ended) {
				if status = ended.ExitCode(); status != exit {
					t.Errorf("%s: exit status %d, not %d", redirection, status, exit)
				}
			} else if exit != 0 || err != nil {
				t.Errorf("%s: %v, not exit status %d", redirection, err, exit)
			}
		}
	})
	for _, args := range [][]string{{"schema", "guidance"}, {"demo", "--settle-ms", "0"}} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			if r := (invocation{args: args, stdout: broken(t)}).run(t); r.exit != 3 {
				t.Errorf("exit status %d, not 3: %s", r.exit, r.stderr)
			}
		})
	}
}
