//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

var wireBehaviours = map[string]behaviour{
	"environment": func(p *peer) {
		p.note("environment", strings.Join(os.Environ(), "\x00"))
		p.serve()
	},
	"looks-into-its-parent": func(p *peer) {
		for _, name := range []string{"environ", "mem", "maps"} {
			f, err := os.Open(fmt.Sprintf("/proc/%d/%s", os.Getppid(), name))
			if err != nil {
				continue
			}
			defer f.Close()
			if n, _ := f.Read(make([]byte, 100)); n > 0 || name == "mem" {
				p.note("seen", name+" ")
			}
		}
		p.serve()
	},
}

// asInAContainer is the command as-in-a-container COMMAND...: root in a
// container has none of the capabilities that let it look into any process.
func asInAContainer() {
	runtime.LockOSThread()
	for _, capability := range []uintptr{unix.CAP_SYS_PTRACE, unix.CAP_SYS_ADMIN, unix.CAP_PERFMON} {
		unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
	}
	path, err := exec.LookPath(os.Args[1])
	if err == nil {
		err = syscall.Exec(path, os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(64)
}

// TestBytesSent holds every byte that a server receives against CONTRACT.md
// section 4.1 (case 17).
func TestBytesSent(t *testing.T) {
	t.Parallel()
	r := mcpeval(t, "guidance", "--server", "x", "--settle-ms", "0", "--format", "json", "--", "mcp-server", "three-pages")
	if r.exit != 0 {
		t.Fatalf("exit status %d: %s", r.exit, r.stderr)
	}
	version := r.report(t).Generator.Version
	for profile, capabilities := range map[string]string{
		"none":        `{}`,
		"roots":       `{"roots":{"listChanged":false}}`,
		"sampling":    `{"sampling":{}}`,
		"elicitation": `{"elicitation":{}}`,
		"all":         `{"roots":{"listChanged":false},"sampling":{},"elicitation":{}}`,
	} {
		want := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":` + capabilities +
			`,"clientInfo":{"name":"mcpeval","version":"` + version + `"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}` + "\n" +
			`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"c4n4ry-2"}}` + "\n" +
			`{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"cursor":"c4n4ry-3"}}` + "\n"
		if diff := cmp.Diff(want, r.recorded("received-"+profile)); diff != "" {
			t.Errorf("profile %s: sent (-want +got):\n%s", profile, diff)
		}
	}
}

// TestServerEnvironment: the runner's command files and credentials are not
// in it, everything else is (CONTRACT.md section 4.6).
func TestServerEnvironment(t *testing.T) {
	t.Parallel()
	hidden := []string{
		"INPUT_SERVER=c4n4ry", "INPUT_HTTP-AUTHORIZATION=c4n4ry", "INPUT_=c4n4ry",
		"ACTIONS_RUNTIME_TOKEN=c4n4ry", "ACTIONS_ID_TOKEN_REQUEST_URL=c4n4ry", "ACTIONS_CACHE_URL=c4n4ry",
		"GITHUB_OUTPUT=/c4n4ry", "GITHUB_ENV=/c4n4ry", "GITHUB_PATH=/c4n4ry", "GITHUB_STATE=/c4n4ry", "GITHUB_STEP_SUMMARY=/c4n4ry",
		"MCPEVAL_HTTP_AUTHORIZATION=Bearer c4n4ry",
	}
	kept := []string{
		"GITHUB_TOKEN=kept", "GITHUB_WORKSPACE=/kept", "GITHUB_OUTPUTS=kept", "RUNNER_TEMP=/kept", "INPUT=kept", "MY_INPUT_A=kept",
		"ACTION_PATH=kept", "EMPTY=", "LINES=a\nb", "EQUALS=a=b", "API_KEY=kept",
	}
	in := invocation{
		args: []string{"guidance", "--server", "x", "--profile", "none", "--settle-ms", "0", "--", "mcp-server", "environment"},
		env:  append(slices.Clone(hidden), kept...),
	}
	r := in.run(t)
	if r.exit != 0 {
		t.Fatalf("exit status %d: %s", r.exit, r.stderr)
	}
	got := map[string]bool{}
	for _, entry := range strings.Split(r.recorded("environment"), "\x00") {
		got[entry] = true
	}
	want := map[string]bool{scratchVar + "=" + r.scratch: true}
	hides := func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "INPUT_") || strings.HasPrefix(name, "ACTIONS_") ||
			slices.ContainsFunc(hidden, func(h string) bool { return strings.HasPrefix(h, name+"=") })
	}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !hides(entry) && !slices.ContainsFunc(kept, func(k string) bool { return strings.HasPrefix(k, name+"=") }) {
			want[entry] = true
		}
	}
	for _, entry := range kept {
		want[entry] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the server's environment (-want +got):\n%s", diff)
	}
	for _, name := range []string{"HOME", "PATH"} {
		if value, set := os.LookupEnv(name); set && !got[name+"="+value] {
			t.Errorf("%s is not in the server's environment", name)
		}
	}
}

// TestServerCannotLookIntoUs: what is not in a server's environment is in
// ours, and a server runs as the same user (CONTRACT.md section 4.6).
func TestServerCannotLookIntoUs(t *testing.T) {
	t.Parallel()
	r := invocation{
		under: "as-in-a-container",
		args:  []string{"guidance", "--server", "x", "--settle-ms", "0", "--", "mcp-server", "looks-into-its-parent"},
		env:   []string{"ACTIONS_RUNTIME_TOKEN=c4n4ry"},
	}.run(t)
	if r.exit != 0 {
		t.Errorf("exit status %d: %s", r.exit, r.stderr)
	}
	if seen := r.recorded("seen"); seen != "" {
		t.Errorf("a server could read of its parent: %s", seen)
	}
}

// TestServerSignals: what we do with our signals is not what a server starts
// with, so that it can be ended and a broken pipe ends it.
func TestServerSignals(t *testing.T) {
	t.Parallel()
	r := mcpeval(t, "guidance", "--server", "x", "--profile", "none", "--settle-ms", "0", "--",
		"sh", "-c", `grep SigIgn /proc/self/status >$`+scratchVar+`/signals; exec mcp-server plain`)
	var ignored uint64
	if _, err := fmt.Sscanf(r.recorded("signals"), "SigIgn: %x", &ignored); err != nil || r.exit != 0 {
		t.Fatalf("exit status %d, %v: %s", r.exit, err, r.stderr)
	}
	for name, number := range map[string]int{"SIGINT": 2, "SIGPIPE": 13, "SIGTERM": 15} {
		if ignored&(1<<(number-1)) != 0 {
			t.Errorf("%s is ignored in a server", name)
		}
	}
}

// TestNothingIsWritten: no file appears where we are, where the server is or
// where temporary files go (CONTRACT.md section 5).
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := invocation{
		args: []string{"guidance", "--server", "x", "--settle-ms", "0", "--", "mcp-server", "three-pages"},
		env:  []string{"HOME=" + dir, "TMPDIR=" + dir, "XDG_CACHE_HOME=" + dir},
		dir:  dir,
	}
	if r := in.run(t); r.exit != 0 {
		t.Fatalf("exit status %d: %s", r.exit, r.stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestSameBytes: the same server gives byte-identical JSON on every run,
// whatever the order in which things come.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	var first string
	for i := range 5 {
		r := mcpeval(t, "guidance", "--server", "x", "--settle-ms", "0", "--format", "json", "--jobs", strconv.Itoa(i+1),
			"--require-tool", "tool-7", "--require-tool", "nowhere", "--", "mcp-server", "shuffles")
		if r.exit != 1 {
			t.Fatalf("exit status %d: %s", r.exit, r.stderr)
		}
		if i == 0 {
			first = r.stdout
		}
		if diff := cmp.Diff(first, r.stdout); diff != "" {
			t.Fatalf("run %d differs (-first +this):\n%s", i+1, diff)
		}
	}
}
