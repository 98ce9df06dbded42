package proc

import (
	"os/exec"
	"strconv"
)

// Windows has no process groups of this kind: the command's tree is ended by
// taskkill while the command itself lives, and a descendant of a command
// that has already ended is not found.
func ownGroup(*exec.Cmd) {}

func (p *Process) terminate() { p.kill() }

func (p *Process) kill() {
	tree := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.cmd.Process.Pid))
	if tree.Run() != nil {
		p.cmd.Process.Kill()
	}
}

func (p *Process) groupEmpty() bool { return true }
