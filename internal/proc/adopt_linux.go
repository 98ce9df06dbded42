package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Adopt makes this process the reaper of its orphaned descendants, so that
// one that left its process group can be found, and closes its environment to
// them (CONTRACT.md section 4.6).
// The function it returns ends every descendant that came after Adopt; call
// it when all sessions are closed.
func Adopt() (sweep func()) {
	// On failure (a very old kernel) orphans go to init and are not found.
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	// Our environment and memory hold what the server's environment was
	// cleared of. Without a dump there is no /proc/PID/environ for others, but
	// for those with CAP_SYS_PTRACE, which containers do not have.
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	before := map[int]bool{}
	for _, pid := range descendants(nil) {
		before[pid] = true
	}
	return func() {
		for deadline := time.Now().Add(killGrace); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
			left := descendants(before)
			if len(left) == 0 {
				return
			}
			for _, pid := range left {
				syscall.Kill(pid, syscall.SIGKILL)
				// Fails for one that is not our own child: it comes to us, or
				// its parent does, in a later round.
				syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			}
		}
	}
}

// descendants returns the living and unreaped processes below this one, but
// for the trees below those in spare.
func descendants(spare map[int]bool) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(pid); ok && !spare[pid] {
			children[parent] = append(children[parent], pid)
		}
	}
	var all []int
	queue := []int{os.Getpid()}
	for len(queue) > 0 {
		below := children[queue[0]]
		queue = append(queue[1:], below...)
		all = append(all, below...)
	}
	return all
}

// parentOf reads proc_pid_stat(5): the command's name, in parentheses, may
// hold anything, so the fields are counted from its end.
func parentOf(pid int) (parent int, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
