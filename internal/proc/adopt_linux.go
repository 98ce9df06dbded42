package proc

import (
	"bytes"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// A chain of processes that fork and end is never there when one looks: a
	// sweep is done when so many looks in a row have found nothing.
	quietPasses = 3
	newest      = 8 // processes of one look whose group is looked up too
	sweepGrace  = 4 * time.Second
	passPause   = 500 * time.Microsecond
	reapPause   = 50 * time.Millisecond // from one look for ended orphans to the next
)

// Adopt makes this process the reaper of its orphaned descendants, so that
// those that left their process group can be found, and closes its environment
// and its descriptors to them (CONTRACT.md sections 4.6 and 8). Orphans that
// end are waited for from now on.
//
// The function it returns ends every descendant that came after Adopt, or, as
// process 1 of a container, every other process, and returns how many are
// left. Limits that one of them has set on us are lifted again, as far as we
// may. Call it when no command is running that should go on.
func Adopt() (sweep func() (left int)) {
	// On failure (a very old kernel) orphans go to init and are not found.
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	closeToOthers()
	keepDescriptors()
	f := &family{before: map[int]bool{}, groups: map[int]bool{unix.Getpgrp(): true}, limits: map[int]unix.Rlimit{}}
	for resource := range unix.RLIMIT_RTTIME + 1 {
		var limit unix.Rlimit
		if unix.Prlimit(0, resource, nil, &limit) == nil {
			f.limits[resource] = limit
		}
	}
	f.session, _ = unix.Getsid(0)
	for _, pid := range f.descendants() {
		f.before[pid] = true
		if s, ok := readStat(pid); ok {
			f.groups[s.group] = true
		}
	}
	go f.reapOrphans()
	return f.sweep
}

// closeToOthers keeps other processes of our user out of our memory and
// environment, which hold what the server's environment was cleared of.
// Without a dump there is no /proc/PID/environ, but for a process with
// CAP_SYS_PTRACE, which containers do not have.
func closeToOthers() { unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// keepDescriptors marks what our own caller left open: no command gets it.
func keepDescriptors() {
	if unix.CloseRange(3, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, _ := os.ReadDir("/proc/self/fd") // before Linux 5.11
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// family is the tree of processes below this one.
type family struct {
	session int          // ours: every Process has one of its own
	before  map[int]bool // descendants that were there before Adopt
	groups  map[int]bool // process groups that hold us or one of those
	limits  map[int]unix.Rlimit
}

// reapOrphans waits for adopted processes that have ended. It leaves those
// alone that are waited for elsewhere: a Process, and what else was started
// in our own session.
func (f *family) reapOrphans() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	for range ended {
		started.Lock()
		for _, pid := range children() {
			if s, ok := readStat(pid); ok && s.session != f.session && !f.before[pid] && !started.pids[pid] {
				syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			}
		}
		started.Unlock()
		time.Sleep(reapPause)
	}
}

func (f *family) sweep() (left int) {
	defer f.liftLimits()
	deadline := time.Now().Add(sweepGrace)
	for quiet := 0; quiet < quietPasses; {
		if time.Now().After(deadline) {
			return max(1, len(f.descendants())) // one may be there without being seen
		}
		if os.Getpid() == 1 {
			// At once, so that none can start another meanwhile.
			syscall.Kill(-1, syscall.SIGKILL)
		}
		found, reaped := f.end(children())
		if found == 0 {
			found, reaped = f.end(f.descendants())
		}
		if quiet++; found > 0 {
			quiet = 0
		}
		if reaped == 0 {
			time.Sleep(passPause)
		}
	}
	return 0
}

// liftLimits puts the limits back that a process of our user may have set on
// us with prlimit(2), so that we can still write what it came to.
func (f *family) liftLimits() {
	for resource, limit := range f.limits {
		var now unix.Rlimit
		if unix.Prlimit(0, resource, nil, &now) != nil || now == limit {
			continue
		}
		if unix.Prlimit(0, resource, &limit, nil) != nil { // the hard limit is lower now
			unix.Prlimit(0, resource, &unix.Rlimit{Cur: min(limit.Cur, now.Max), Max: now.Max}, nil)
		}
	}
}

// end kills processes and waits for those that came to us. Of a chain of
// processes that fork and end, what is seen has mostly ended already: the
// newest are killed first, and with each the groups that the living one is in.
func (f *family) end(pids []int) (found, reaped int) {
	for i, pid := range slices.Backward(pids) {
		if f.before[pid] {
			continue
		}
		found++
		// Nothing that came after Adopt shares our own group: a Process begins
		// a session, which its descendants cannot go back from.
		syscall.Kill(-pid, syscall.SIGKILL)
		syscall.Kill(pid, syscall.SIGKILL)
		if len(pids)-i > newest {
			continue
		}
		if s, ok := readStat(pid); ok && s.group > 1 && !f.groups[s.group] {
			syscall.Kill(-s.group, syscall.SIGKILL)
		}
	}
	for _, pid := range pids {
		// Fails for one that is not our own child: it comes to us, or its
		// parent does, in a later pass.
		if f.before[pid] {
			continue
		}
		if ended, _ := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); ended == pid {
			reaped++
		}
	}
	return found, reaped
}

// children returns the processes that have this one as their parent, adopted
// ones included. A child of another of our threads may be missing.
func children() (pids []int) {
	list, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children")
	if err != nil { // a kernel without CONFIG_PROC_CHILDREN
		return childrenOf(os.Getpid(), parents())
	}
	for word := range strings.FieldsSeq(string(list)) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// descendants returns the living and unreaped processes below this one, but
// for those that were there before Adopt and the trees below them.
func (f *family) descendants() (all []int) {
	parents := parents()
	for pid := range f.before {
		delete(parents, pid)
	}
	queue := []int{os.Getpid()}
	for len(queue) > 0 {
		below := childrenOf(queue[0], parents)
		queue = append(queue[1:], below...)
		all = append(all, below...)
	}
	return all
}

func childrenOf(parent int, parents map[int]int) (pids []int) {
	for pid, p := range parents {
		if p == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parents returns the parent of every process that can be seen.
func parents() map[int]int {
	all := map[int]int{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			if s, ok := readStat(pid); ok {
				all[pid] = s.parent
			}
		}
	}
	return all
}

type stat struct{ parent, group, session int }

// readStat reads proc_pid_stat(5): the command's name, in parentheses, may
// hold anything, so the fields are counted from its end.
func readStat(pid int) (s stat, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return s, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 4 {
		return s, false
	}
	for i, into := range []*int{&s.parent, &s.group, &s.session} {
		if *into, err = strconv.Atoi(string(fields[i+1])); err != nil {
			return s, false
		}
	}
	return s, true
}
