//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// canary is what servers put wherever prose can be: no output may hold it.
const canary = "c4n4ry"

// memoryBound is CONTRACT.md section 4.4's, for a run of five profiles.
const memoryBound = 256 << 20 // bytes

// scratchVar names the folder of one run. Every process of the run inherits
// it, so that the process table tells what was left behind.
const scratchVar = "MCPEVAL_E2E_SCRATCH"

// invocation is one run of mcpeval to be made.
type invocation struct {
	args []string
	env  []string // KEY=VALUE, added to ours
	// built runs the binary as go build makes it from main.go, without the
	// race detector: for measuring memory.
	built     bool
	under     string        // a command to run it under
	bound     time.Duration // the run must have ended by itself; 60 s without it
	stdout    *os.File      // instead of collecting it
	stderr    *os.File      // instead of collecting it
	dir       string        // where it runs; here without it
	container bool          // as process 1 of a container
	namespace bool          // with it, in a user namespace that has root alone
	inherited []*os.File    // descriptors from 3 up
	scratch   string        // the run's folder; a new one without it
}

// result is one finished run of mcpeval.
type result struct {
	exit           int // the exit status; minus the number of a signal that killed it
	stdout, stderr string
	elapsed        time.Duration
	peak           int64  // resident memory of mcpeval at its highest, bytes
	scratch        string // the run's folder
}

// mcpeval runs the binary and fails the test if it does not end by itself or
// leaves a process behind.
func mcpeval(t *testing.T, args ...string) result {
	t.Helper()
	return invocation{args: args}.run(t)
}

func (in invocation) run(t *testing.T) result {
	t.Helper()
	return in.start(t).wait()
}

// running is mcpeval in the middle of a run.
type running struct {
	t              *testing.T
	cmd            *exec.Cmd
	began          time.Time
	stdout, stderr bytes.Buffer
	scratch        string
	peak           chan int64
	cancel         context.CancelFunc
	ctx            context.Context
}

func (in invocation) start(t *testing.T) *running {
	t.Helper()
	r := &running{t: t, scratch: in.scratch, peak: make(chan int64, 1)}
	if r.scratch == "" {
		r.scratch = t.TempDir()
	}
	bound := in.bound
	if bound == 0 {
		bound = 60 * time.Second
	}
	program := "mcpeval" // on the PATH, by TestMain
	if in.built {
		program = builtBinary(t)
	}
	r.ctx, r.cancel = context.WithTimeout(context.Background(), bound)
	words := append([]string{program}, in.args...)
	if in.container {
		words = append([]string{"in-a-container"}, words...)
	}
	if in.under != "" {
		words = append([]string{in.under}, words...)
	}
	r.cmd = exec.CommandContext(r.ctx, words[0], words[1:]...)
	r.cmd.Env = append(append(os.Environ(), in.env...), scratchVar+"="+r.scratch)
	r.cmd.Dir = in.dir
	r.cmd.ExtraFiles = in.inherited
	if in.container {
		r.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
		if in.namespace {
			r.cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			r.cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{Size: 1}}
			r.cmd.SysProcAttr.GidMappings = r.cmd.SysProcAttr.UidMappings
			r.cmd.SysProcAttr.GidMappingsEnableSetgroups = true
		}
	}
	r.cmd.WaitDelay = time.Second
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	if in.stdout != nil {
		r.cmd.Stdout = in.stdout
	}
	if in.stderr != nil {
		r.cmd.Stderr = in.stderr
	}
	r.began = time.Now()
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go r.watchMemory()
	return r
}

// watchMemory reads the kernel's high-water mark, which only grows, until the
// process is gone.
func (r *running) watchMemory() {
	var peak int64
	defer func() { r.peak <- peak }()
	for ; r.ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
		match := highWater.FindSubmatch(status)
		if err != nil || match == nil {
			return
		}
		kib, _ := strconv.ParseInt(string(match[1]), 10, 64)
		peak = max(peak, kib<<10)
	}
}

var highWater = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

func (r *running) wait() result {
	r.t.Helper()
	err := r.cmd.Wait()
	elapsed := time.Since(r.began)
	overdue := r.ctx.Err() != nil
	r.cancel()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !overdue {
		r.t.Fatal(err)
	}
	if overdue {
		r.t.Errorf("mcpeval did not end by itself within %s", elapsed.Round(time.Second))
	}
	status := r.cmd.ProcessState.ExitCode()
	if state := r.cmd.ProcessState.Sys().(syscall.WaitStatus); state.Signaled() {
		status = -int(state.Signal())
	}
	for _, left := range survivors(r.scratch) {
		r.t.Errorf("still running after mcpeval has ended: %s", left)
		left.kill()
	}
	return result{
		exit: status, stdout: r.stdout.String(), stderr: r.stderr.String(),
		elapsed: elapsed, peak: <-r.peak, scratch: r.scratch,
	}
}

// process is one row of the process table.
type process struct {
	pid     int
	command string
}

func (p process) String() string { return fmt.Sprintf("%d %s", p.pid, p.command) }

func (p process) kill() { syscall.Kill(p.pid, syscall.SIGKILL) }

// survivors finds the living processes whose environment has the run's
// folder, whatever their parent or group is now.
func survivors(scratch string) []process {
	var alive []process
	tables, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, table := range tables {
		environ, _ := os.ReadFile(table)
		for _, entry := range bytes.Split(environ, []byte{0}) {
			if string(entry) != scratchVar+"="+scratch {
				continue
			}
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(table)))
			words, _ := os.ReadFile(filepath.Join(filepath.Dir(table), "cmdline"))
			alive = append(alive, process{pid, string(bytes.ReplaceAll(words, []byte{0}, []byte{' '}))})
			break
		}
	}
	return alive
}

// noCanary fails the test if what a server said has come out.
func (r result) noCanary(t *testing.T) {
	t.Helper()
	for name, text := range map[string]string{"stdout": r.stdout, "stderr": r.stderr} {
		if at := strings.Index(strings.ToLower(text), canary); at >= 0 {
			t.Errorf("%s holds a word of the server: ...%q...", name, text[max(0, at-60):min(len(text), at+60)])
		}
	}
}

// inBounds fails the test if the run took more memory than is promised.
func (r result) inBounds(t *testing.T) {
	t.Helper()
	if r.peak == 0 {
		t.Error("no memory was measured")
	}
	if r.peak > memoryBound {
		t.Errorf("peak memory %d MiB, more than %d", r.peak>>20, memoryBound>>20)
	}
}

// diagnosed is what stderr says of one profile: its code and stage.
type diagnosed struct{ code, stage string }

var troubleLine = regexp.MustCompile(`(?m)^mcpeval: profile ([a-z, ]+): ([a-z-]+)(?: \d+)?(?: \([^)]*\))? at ([a-z/]+): `)

// diagnoses reads the remarks on stderr, by profile.
func (r result) diagnoses() map[string]diagnosed {
	found := map[string]diagnosed{}
	for _, m := range troubleLine.FindAllStringSubmatch(r.stderr, -1) {
		for _, p := range strings.Split(m[1], ", ") {
			found[p] = diagnosed{m[2], m[3]}
		}
	}
	return found
}

// recorded returns a file that a server wrote into the run's folder; empty
// when there is none.
func (r result) recorded(name string) string {
	data, _ := os.ReadFile(filepath.Join(r.scratch, name))
	return string(data)
}

// shared is what the tests of one run make once, in a folder that TestMain
// removes.
var shared struct {
	once  sync.Once
	dir   string
	build sync.Once
	err   error
}

func sharedDir(t *testing.T) string {
	t.Helper()
	shared.once.Do(func() {
		dir, err := os.MkdirTemp("", "mcpeval-e2e-")
		if err != nil {
			t.Fatal(err)
		}
		shared.dir = dir
	})
	return shared.dir
}

// builtBinary builds main.go once, as a release is built.
func builtBinary(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(sharedDir(t), "mcpeval")
	shared.build.Do(func() {
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", binary, "github.com/org/mcpeval-guidance")
		if out, err := build.CombinedOutput(); err != nil {
			shared.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return binary
}

// heavy lets few runs of many bytes or many processes go on at a time, so
// that time limits mean something on a small machine.
var heavySlots = make(chan struct{}, 2)

func heavy(t *testing.T) {
	heavySlots <- struct{}{}
	t.Cleanup(func() { <-heavySlots })
}

// document is a JSON report, as strictly as its schema.
type document struct {
	Schema    string `json:"schema"`
	Generator struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"generator"`
	Server             string            `json:"server"`
	ProtocolVersion    string            `json:"protocol_version"`
	ReferenceDetection string            `json:"reference_detection"`
	SettleMS           int               `json:"settle_ms"`
	Complete           bool              `json:"complete"`
	Passed             *bool             `json:"passed"`
	RequiredTools      []string          `json:"required_tools"`
	Profiles           []documentProfile `json:"profiles"`
	Candidates         []documentFinding `json:"candidates"`
	Defects            []documentFinding `json:"defects"`
}

type documentProfile struct {
	Profile             string   `json:"profile"`
	Tools               []string `json:"tools"`
	InstructionsPresent *bool    `json:"instructions_present"`
	Error               *string  `json:"error"`
}

type documentFinding struct {
	Profile     string   `json:"profile"`
	Tool        string   `json:"tool"`
	Reason      string   `json:"reason"`
	Hint        string   `json:"hint"`
	AvailableIn []string `json:"available_in"`
}

// report reads the JSON report on stdout.
func (r result) report(t *testing.T) document {
	t.Helper()
	var d document
	decoder := json.NewDecoder(strings.NewReader(r.stdout))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		t.Fatalf("stdout is no report: %v; exit status %d, stdout %.300q, stderr %s", err, r.exit, r.stdout, r.stderr)
	}
	return d
}
