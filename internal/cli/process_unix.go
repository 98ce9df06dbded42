//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// endingSignals are the signals that end a run: all that a process can catch,
// since a server of our own user may send any (CONTRACT.md section 8), but for
// those that end nothing if they are not caught, and SIGPIPE, which is an
// error of the write.
func endingSignals() []os.Signal {
	list := []os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE,
		syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGVTALRM,
		syscall.SIGPROF, syscall.SIGXCPU, syscall.SIGXFSZ, syscall.SIGIO,
	}
	list = append(list, systemSignals()...)
	// A terminal that closes must not leave a server running; nohup asks for
	// the opposite.
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	// At a desk these stop a job until it goes on. Elsewhere nobody lets it.
	if !isTerminal(os.Stderr) {
		list = append(list, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	}
	return list
}

// stdoutClosed reports whether our caller closed stdout. The Go runtime puts
// the null device in its place, for reading and writing. A shell's redirection
// opens it for writing alone, and a daemon has it as stderr too.
func stdoutClosed() bool { return isNullDevice(os.Stdout) && !isNullDevice(os.Stderr) }

// isNullDevice reports whether a stream is the null device, open for reading
// and writing.
func isNullDevice(stream *os.File) bool {
	flags, err := unix.FcntlInt(stream.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	info, err := stream.Stat()
	null, nullErr := os.Stat(os.DevNull)
	return err == nil && nullErr == nil && os.SameFile(info, null)
}
