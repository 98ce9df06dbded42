//go:build unix

package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestStop: the group alone is ended, with no help of Adopt, which only Linux
// has and which only sweeps at the end of a run.
func TestStop(t *testing.T) {
	t.Parallel()
	const (
		patient  = eofGrace
		stubborn = eofGrace + termGrace
	)
	for _, row := range []struct {
		name   string
		script string // must write what it starts to the file pids, and then a line to the file ready
		least  time.Duration
		most   time.Duration
		said   string // to the file said
	}{
		{name: "ends with its stdin", script: `echo >ready; cat`, most: patient},
		{name: "has ended", script: `echo >ready`, most: patient},
		{name: "wants SIGTERM", script: `trap 'echo term >said; exit' TERM; echo >ready; while :; do sleep 0.01; done`, least: patient, most: stubborn, said: "term\n"},
		{name: "ignores SIGTERM", script: `trap '' TERM INT HUP; echo >ready; while :; do sleep 1; done`, least: stubborn, most: stubborn + time.Second},
		{name: "leaves a child", script: `sleep 60 & echo $! >pids; echo >ready`, least: patient, most: stubborn},
		{name: "leaves a child that ignores SIGTERM", script: `trap '' TERM; sleep 60 & echo $! >pids; echo >ready`, least: stubborn, most: stubborn + time.Second},
		{name: "ends on SIGTERM, its child does not", script: `(trap '' TERM; exec sleep 60) & echo $! >pids; echo >ready; wait`, least: stubborn, most: stubborn + time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in, stdin, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			defer stdin.Close()
			p, err := Start(Command{Args: []string{"sh", "-c", row.script}, Dir: dir, Env: os.Environ()}, in, nil)
			if err != nil {
				t.Fatal(err)
			}
			read := func(name string) string {
				data, _ := os.ReadFile(filepath.Join(dir, name))
				return string(data)
			}
			for read("ready") == "" {
				time.Sleep(time.Millisecond)
			}
			stdin.Close()
			began := time.Now()
			p.Stop()
			if took := time.Since(began); took < row.least || took > row.most+5*time.Second {
				t.Errorf("took %s, not %s to %s", took, row.least, row.most)
			}
			for _, word := range strings.Fields(read("pids")) {
				if pid, _ := strconv.Atoi(word); syscall.Kill(pid, 0) == nil && !isZombie(pid) {
					t.Errorf("process %d is still there", pid)
					syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			if said := read("said"); said != row.said {
				t.Errorf("said %q, not %q", said, row.said)
			}
		})
	}
}

// isZombie reports whether a process has ended and waits for a reaper that is
// not us.
func isZombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// TestEnded: a command whose child lives on has not ended.
func TestEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := Start(Command{Args: []string{"sh", "-c", "sleep 60 &"}, Dir: dir, Env: os.Environ()}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if p.Ended() {
		t.Error("ended, with a child in the group")
	}
	p.Stop()
}

// TestSession: a command has no terminal to write to, and cannot leave its
// group: it leads a session.
func TestSession(t *testing.T) {
	t.Parallel()
	p, err := Start(Command{Args: []string{"sleep", "60"}, Env: os.Environ()}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	if session, err := unix.Getsid(p.cmd.Process.Pid); err != nil || session != p.cmd.Process.Pid {
		t.Errorf("the command %d is in session %d, %v", p.cmd.Process.Pid, session, err)
	}
}
