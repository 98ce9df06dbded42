package mcp

import (
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/org/mcpeval-guidance/internal/diagnosis"
	"github.com/org/mcpeval-guidance/internal/proc"
)

// reapTime is how long the end of a command whose output has ended is waited
// for, to tell its exit status.
const reapTime = 250 * time.Millisecond

// EndDetail says how a command ended; nothing where it runs on.
func EndDetail(process *proc.Process) (d diagnosis.Detail) {
	if process == nil {
		return d
	}
	wait := time.NewTimer(reapTime)
	defer wait.Stop()
	select {
	case <-process.Done():
	case <-wait.C:
	}
	d.ExitStatus, d.Signal, d.Ended = process.State()
	return d
}

// StartDetail says which of the system's errors kept a command from starting.
func StartDetail(err error) (d diagnosis.Detail) {
	for _, row := range []struct {
		err  error
		says diagnosis.StartError
	}{
		{proc.ErrNoInterpreter, diagnosis.NoInterpreter},
		{proc.ErrNoDirectory, diagnosis.NoDirectory},
		{fs.ErrNotExist, diagnosis.NoProgram},
		{syscall.ENOTDIR, diagnosis.NoProgram},
		{fs.ErrPermission, diagnosis.NotExecutable},
		{syscall.ENOEXEC, diagnosis.WrongFormat},
		{syscall.E2BIG, diagnosis.TooLong},
		{syscall.EAGAIN, diagnosis.OutOfResources},
		{syscall.ENOMEM, diagnosis.OutOfResources},
		{syscall.EMFILE, diagnosis.OutOfResources},
		{syscall.ENFILE, diagnosis.OutOfResources},
	} {
		if errors.Is(err, row.err) {
			d.Start = row.says
			return d
		}
	}
	return d
}
