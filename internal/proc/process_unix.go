//go:build unix

package proc

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// ownGroup gives the command a session, and so a group, of its own: without
// our terminal it can neither write to it nor be stopped by it, and the leader
// of a session cannot leave its group.
func ownGroup(cmd *exec.Cmd, user *User) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if user != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(user.UID), Gid: uint32(user.GID)}
	}
}

// candidates returns where execvp would look for the program: the files of
// that name in the folders of the PATH that the command gets, seen from the
// folder that it starts in.
func (c Command) candidates() (paths []string) {
	program := c.Args[0]
	seen := func(path string) (os.FileInfo, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		return os.Stat(path)
	}
	if strings.Contains(program, "/") {
		if _, err := seen(program); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return []string{program}
	}
	search := "/bin:/usr/bin" // confstr(3), where there is no PATH
	for _, variable := range c.Env {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			search = value
		}
	}
	for _, folder := range strings.Split(search, ":") {
		path := "./" + program
		if folder != "" {
			path = folder + "/" + program
		}
		if info, err := seen(path); err == nil && !info.IsDir() {
			paths = append(paths, path)
		}
	}
	return paths
}

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
