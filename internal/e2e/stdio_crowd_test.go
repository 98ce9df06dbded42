//go:build linux

package e2e

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/org/mcpeval-guidance/internal/profile"
)

// The servers below know of one another by files in the run's folder.

// enter records that this server has started and reports whether it is the
// first of the run.
func (p *peer) enter() (first bool) {
	first = os.Mkdir(filepath.Join(p.scratch, "first"), 0o777) == nil
	p.note("pids", strconv.Itoa(os.Getpid())+"\n")
	return first
}

func (p *peer) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(p.scratch, name))
	return string(data)
}

// others counts the other servers that have started and are still there.
func (p *peer) others() (alive int) {
	for _, word := range strings.Fields(p.read("pids")) {
		pid, _ := strconv.Atoi(word)
		if pid != os.Getpid() && syscall.Kill(pid, 0) == nil {
			alive++
		}
	}
	return alive
}

// alone takes a lock that the kernel gives back when this process ends, and
// reports whether it was free.
func (p *peer) alone() bool {
	f, err := os.OpenFile(filepath.Join(p.scratch, "lock"), os.O_CREATE|os.O_RDWR, 0o666)
	return err == nil && syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// meet waits until that many servers have called it.
func (p *peer) meet(n int) {
	p.note("met", p.profile+"\n")
	for strings.Count(p.read("met"), "\n") < n {
		time.Sleep(5 * time.Millisecond)
	}
}

// besides makes a server that is good as the first of a run, which stays until
// all have started, and on its own; beside another it does something else.
func besides(other behaviour) behaviour {
	return func(p *peer) {
		free := p.alone()
		switch first := p.enter(); {
		case !free:
			other(p)
			return
		case first:
			p.initialize()
			for strings.Count(p.read("pids"), "\n") < 5 {
				time.Sleep(5 * time.Millisecond)
			}
		}
		p.serve()
	}
}

var crowdBehaviours = map[string]behaviour{
	// The first takes its time and sees nobody; no other answers before all
	// four are there.
	"meets": func(p *peer) {
		first := p.enter()
		p.expect("initialize")
		if first {
			time.Sleep(300 * time.Millisecond)
			if p.others() > 0 {
				p.complain("others were started before the first had answered")
			}
		} else {
			p.meet(4)
		}
		p.answer(p.hello)
		p.serve()
	},
	// Each is alone, although it takes a signal to end it.
	"is-alone": func(p *peer) {
		p.enter()
		if n := p.others(); n > 0 {
			p.complain("%d others were there at the start of a server", n)
		}
		p.atEOF = p.stall
		p.serve()
	},
	// At most one other is there, and two are when the first two meet.
	"is-one-of-two": func(p *peer) {
		p.enter()
		if n := p.others(); n > 1 {
			p.complain("%d others were there at the start of a server", n)
		}
		p.initialize()
		p.expect("tools/list")
		p.meet(2)
		p.answer(p.page(""))
		p.serve()
	},
	"first-exits": func(p *peer) {
		if p.enter() {
			os.Exit(1)
		}
		p.serve()
	},
	"first-hangs": func(p *peer) {
		if p.enter() {
			p.hang()
		}
		p.serve()
	},
	"starts-slowly": func(p *peer) {
		p.enter()
		time.Sleep(400 * time.Millisecond)
		p.serve()
	},
	// Case 5: a launcher that installs into a cache under a lock, and fails
	// where the lock is taken.
	"launcher": func(p *peer) {
		p.enter()
		cache := filepath.Join(p.scratch, "cache")
		if _, err := os.Stat(cache); err != nil {
			if !p.alone() {
				os.Exit(1)
			}
			time.Sleep(500 * time.Millisecond)
			os.WriteFile(cache, nil, 0o666)
		}
		p.serve()
	},
	"exits-beside-another": besides(func(p *peer) { os.Exit(1) }),
	"refuses-beside-another": besides(func(p *peer) {
		p.expect("initialize")
		p.send(`{"jsonrpc":"2.0","id":` + p.id + `,"error":{"code":-32000,"message":"c4n4ry: in use"}}`)
		p.hang()
	}),
	"hangs-beside-another":    besides((*peer).hang),
	"malforms-beside-another": besides(helloText("{\"jsonrpc\":\"2.0\"}\n")),
	// Fails beside another, and otherwise on its own: the second counts.
	"fails-either-way": func(p *peer) {
		if _, err := os.Stat(filepath.Join(p.scratch, "first")); err == nil {
			p.hello = strings.Replace(p.hello, "2025-06-18", "2024-11-05", 1)
		}
		besides(func(*peer) { os.Exit(1) })(p)
	},
	"needs-to-be-alone": func(p *peer) {
		free := p.alone()
		if p.enter(); !free {
			os.Exit(1)
		}
		p.serve()
	},
	// What it leaves behind in a session of its own keeps what the next server
	// needs, as a detached browser keeps its port.
	"daemon-keeps-the-lock": func(p *peer) {
		p.enter()
		f, err := os.OpenFile(filepath.Join(p.scratch, "lock"), os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil || syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			os.Exit(1)
		}
		p.spawn("sleeper", func(c *exec.Cmd) {
			c.ExtraFiles = []*os.File{f}
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		})
		p.serve()
	},
	// Each profile has 10,000 tools of its own, and its instructions name
	// those of all others: 200,000 candidates.
	"names-all-others": func(p *peer) {
		p.expect("initialize")
		var prose strings.Builder
		var own []string
		for _, name := range profile.Every() {
			for i, tool := range long(10000) {
				tool = strconv.Itoa(10000 + i)[1:] + string(name) + tool[4+len(name):]
				if string(name) == p.profile {
					own = append(own, tool)
				} else {
					prose.WriteString("`" + tool + "` ")
				}
			}
		}
		p.answer(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"instructions":"` + prose.String() + `"}`)
		p.page = func(string) string { return catalog(own...) }
		p.serve()
	},
	"shuffles": func(p *peer) {
		names := many(40, 0)
		p.page = func(cursor string) string {
			if cursor != "" {
				return catalog(names[20:]...)
			}
			rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			return paged(`"`+strconv.Itoa(rand.Int())+`"`, names[:20]...)
		}
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		p.serve()
	},
}

// TestManyFindings: the report itself is bounded in memory, too, in every
// form (CONTRACT.md section 4.4).
func TestManyFindings(t *testing.T) {
	t.Parallel()
	for format, least := range map[string]int{"json": 100e6, "text": 20 << 20, "markdown": 800 << 10} {
		t.Run(format, func(t *testing.T) {
			heavy(t)
			r := invocation{built: true, args: []string{"guidance", "--server", "x", "--format", format, "--settle-ms", "0", "--", "mcp-server", "names-all-others"}}.run(t)
			if r.exit != 0 || len(r.stdout) < least {
				t.Errorf("exit status %d, %d bytes: %s", r.exit, len(r.stdout), r.stderr)
			}
			r.inBounds(t)
			t.Logf("%d MiB, %d bytes", r.peak>>20, len(r.stdout))
		})
	}
}

// TestCrowd: profiles run side by side, as many as --jobs says, and that
// never changes a verdict (CONTRACT.md section 4.5).
func TestCrowd(t *testing.T) {
	t.Parallel()
	const every = "none roots sampling elicitation all"
	for _, row := range []struct {
		server  string
		jobs    string
		settle  string
		timeout string
		exit    int
		starts  int    // of servers, second runs included
		code    string // of those who have a diagnosis
		whose   string
		stderr  string
		within  time.Duration
	}{
		{server: "meets", starts: 5},
		{server: "meets", jobs: "4", starts: 5},
		{server: "is-alone", jobs: "1", starts: 5},
		{server: "is-one-of-two", jobs: "2", starts: 5},
		// One start and one start beside it, and one window: not five.
		{server: "starts-slowly", settle: "600", starts: 5, within: 4 * time.Second},
		{server: "launcher", starts: 5},
		{server: "launcher", jobs: "1", starts: 5},
		{server: "first-exits", exit: 3, starts: 5, code: "transport-closed", whose: "none"},
		{server: "first-exits", jobs: "1", exit: 3, starts: 5, code: "transport-closed", whose: "none"},
		{server: "first-hangs", timeout: "1000", exit: 3, starts: 5, code: "timeout", whose: "none"},
		{server: "exits-beside-another", starts: 9},
		{server: "needs-to-be-alone", jobs: "1", starts: 5},
		{server: "daemon-keeps-the-lock", jobs: "1", starts: 5},
		{server: "refuses-beside-another", starts: 9},
		{server: "fails-either-way", exit: 3, starts: 9, code: "protocol-version", whose: "roots sampling elicitation all"},
		{server: "hangs-beside-another", timeout: "4000", exit: 3, starts: 5, code: "timeout", whose: "roots sampling elicitation all", stderr: "--jobs 1"},
		{server: "malforms-beside-another", exit: 3, starts: 5, code: "message-malformed", whose: "roots sampling elicitation all"},
		// Every profile loses its transport: each but the first, which was
		// alone, is given a second run.
		{server: "exits-at-once", exit: 3, code: "transport-closed", whose: every, stderr: "(exit status 0)"}, // 25
	} {
		t.Run(row.server+row.jobs, func(t *testing.T) {
			t.Parallel()
			args := []string{"guidance", "--server", "x", "--format", "json", "--settle-ms", "0"}
			if row.settle != "" {
				args[len(args)-1] = row.settle
			}
			if row.jobs != "" {
				args = append(args, "--jobs", row.jobs)
			}
			if row.timeout != "" {
				args = append(args, "--timeout-ms", row.timeout)
			}
			r := mcpeval(t, append(args, "--", "mcp-server", row.server)...)
			if complaints := r.recorded("complaints"); complaints != "" {
				t.Errorf("a server complains: %s", complaints)
			}
			if r.exit != row.exit {
				t.Errorf("exit status %d, not %d: %s", r.exit, row.exit, r.stderr)
			}
			if got := strings.Count(r.recorded("pids"), "\n"); got != row.starts {
				t.Errorf("%d servers were started, not %d", got, row.starts)
			}
			said := r.diagnoses()
			for _, p := range r.report(t).Profiles {
				want := ""
				if strings.Contains(" "+row.whose+" ", " "+p.Profile+" ") {
					want = row.code
				}
				if got := said[p.Profile].code; got != want || (p.Error != nil) != (want != "") {
					t.Errorf("profile %s: diagnosis %q, not %q", p.Profile, got, want)
				}
			}
			if !strings.Contains(r.stderr, row.stderr) {
				t.Errorf("stderr lacks %q: %s", row.stderr, r.stderr)
			}
			if row.within > 0 && r.elapsed > row.within {
				t.Errorf("took %s, more than %s", r.elapsed, row.within)
			}
			r.noCanary(t)
		})
	}
}
