// Package proc starts commands, each in a process group of its own, and ends
// them with all that they started. It must know nothing of what they say, and
// never use a shell.
package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
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
	Args   []string // the first is a path, or looked up on the PATH in Env
	Dir    string   // empty: here; relative paths, those on the PATH too, start there
	Env    []string // the whole environment
	User   *User    // nil: as we are
	Stderr io.Writer
}

// User is whom a command runs as: without any other group, without
// capabilities, and without a way to new privileges. Its home is in Env.
type User struct{ UID, GID int }

// ErrNoInterpreter is in the chain of Start's error where the program is there
// and the interpreter that its first line names is not.
var ErrNoInterpreter = errors.New("no such interpreter")

// ErrNoDirectory is in the chain of Start's error where the folder that the
// command is to start in is not there.
var ErrNoDirectory = errors.New("no such directory")

// started holds the commands that a Process waits for.
var started = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

// Process is a started command with its process group.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the command itself was waited for
}

// Start starts a command in a process group of its own. A nil stdin,
// stdout or stderr is the null device. As execvp does, it goes on to the next
// folder of the PATH where a program may not be executed. The error must not be
// shown, since it holds the command's words; in its chain are the system's
// error (syscall.Errno), or ErrNoInterpreter.
func Start(c Command, stdin, stdout *os.File) (*Process, error) {
	if info, err := os.Stat(c.Dir); c.Dir != "" && (err != nil || !info.IsDir()) {
		return nil, ErrNoDirectory
	}
	var err error = &os.PathError{Op: "exec", Path: c.Args[0], Err: syscall.ENOENT}
	for _, path := range c.candidates() {
		p, failed := c.start(path, stdin, stdout)
		switch {
		case failed == nil:
			return p, nil
		case errors.Is(failed, syscall.ENOENT):
			err = fmt.Errorf("%w: %w", ErrNoInterpreter, failed)
		case errors.Is(failed, syscall.EACCES):
			err = failed
		default:
			return nil, failed
		}
	}
	return nil, err
}

func (c Command) start(path string, stdin, stdout *os.File) (*Process, error) {
	cmd := &exec.Cmd{Path: path, Args: c.Args, Dir: c.Dir, Env: c.Env, Stderr: c.Stderr}
	// A nil *os.File in an interface is not nil.
	if stdin != nil {
		cmd.Stdin = stdin
	}
	if stdout != nil {
		cmd.Stdout = stdout
	}
	// Where stderr is no file, a descendant that keeps it must not hold us.
	cmd.WaitDelay = termGrace
	ownGroup(cmd, c.User)
	started.Lock()
	defer started.Unlock()
	var err error
	if c.User == nil {
		err = cmd.Start()
	} else {
		// As with its own pipe, the command may open /dev/stdout by name.
		for _, end := range []*os.File{stdin, stdout} {
			if end != nil {
				end.Chown(c.User.UID, c.User.GID)
			}
		}
		err = c.User.start(cmd.Start)
	}
	if err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	started.pids[pid] = true
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		cmd.Wait()
		started.Lock()
		delete(started.pids, pid)
		started.Unlock()
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

// LeftBehind says that processes of a server go on although everything was
// done to end them.
func LeftBehind(left int) string {
	if left == 1 {
		return "a process that the server started is still running and could not be ended"
	}
	return fmt.Sprintf("%d processes that the server started are still running and could not be ended", left)
}
