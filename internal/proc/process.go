// Package proc starts commands, each in a process group of its own, and ends
// them with all that they started. It must know nothing of what they say, and
// never use a shell.
package proc

import (
	"io"
	"os"
	"os/exec"
	"time"
)

// How long a process group may take to end (CONTRACT.md section 4.6). A
// well-behaved server ends within milliseconds of the end of its stdin.
const (
	eofGrace  = 300 * time.Millisecond // from the end of stdin to SIGTERM
	termGrace = 700 * time.Millisecond // from SIGTERM to SIGKILL
	killGrace = 2 * time.Second        // from SIGKILL to giving up on a process that the kernel holds
)

// Command is what to start: directly, without a shell.
type Command struct {
	Args   []string
	Dir    string   // empty: here
	Env    []string // the whole environment
	Stderr io.Writer
}

// Process is a started command with its process group.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the command itself was waited for
}

// Start starts a command in a process group of its own. A nil stdin,
// stdout or stderr is the null device. The error must not be shown: it holds
// the command's words.
func Start(c Command, stdin, stdout *os.File) (*Process, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = c.Env
	// A nil *os.File in an interface is not nil.
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if stdout != nil {
		cmd.Stdout = stdout
	}
	cmd.Stderr = c.Stderr
	// Where stderr is no file, a descendant that keeps it must not hold us.
	cmd.WaitDelay = termGrace
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the command itself has ended; its group may live on.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended reports whether the command and its whole group have ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return p.groupEmpty()
	default:
		return false
	}
}

// Stop ends the whole group: a grace, SIGTERM, a grace, SIGKILL. It returns
// when nothing of the group is left.
func (p *Process) Stop() {
	if p.gone(eofGrace) {
		return
	}
	p.terminate()
	if p.gone(termGrace) {
		return
	}
	p.kill()
	p.gone(killGrace)
}

// gone waits until the group is empty and reports whether it is.
func (p *Process) gone(within time.Duration) bool {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	select {
	case <-p.done:
	case <-deadline.C:
		return false
	}
	for pause := time.Millisecond; !p.groupEmpty(); pause = min(2*pause, 16*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-deadline.C:
			return false
		}
	}
	return true
}
