package proc

import "syscall"

// State says how the command itself ended: its exit status, or the number of
// the signal that ended it, else 0. It reports false while the command runs.
func (p *Process) State() (exit, signal int, ended bool) {
	select {
	case <-p.done:
	default:
		return 0, 0, false
	}
	state := p.cmd.ProcessState
	if state == nil {
		return 0, 0, false
	}
	if wait, ok := state.Sys().(syscall.WaitStatus); ok && wait.Signaled() {
		return 0, int(wait.Signal()), true
	}
	return state.ExitCode(), 0, true
}
