//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the command a session, and so a group, of its own: without
// our terminal it can neither write to it nor be stopped by it, and the leader
// of a session cannot leave its group.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func (p *Process) terminate() { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM) }

func (p *Process) kill() { syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// groupEmpty is asked only after the leader was waited for. Members that
// came to us as their reaper are waited for here: a zombie keeps its group.
func (p *Process) groupEmpty() bool {
	group := -p.cmd.Process.Pid
	for {
		pid, err := syscall.Wait4(group, nil, syscall.WNOHANG, nil)
		if pid <= 0 && err != syscall.EINTR {
			break
		}
	}
	return syscall.Kill(group, 0) == syscall.ESRCH
}
