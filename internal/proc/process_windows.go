package proc

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Windows has no process groups of this kind: the command's tree is ended by
// taskkill while the command itself lives, and a descendant of a command
// that has already ended is not found.
func ownGroup(*exec.Cmd, *User) {}

// candidates returns where the program is on the PATH that the command gets,
// with the extensions that Windows gives to programs.
func (c Command) candidates() (paths []string) {
	program := c.Args[0]
	if strings.ContainsAny(program, `:\/`) {
		if !filepath.IsAbs(program) && filepath.IsLocal(program) {
			program = filepath.Join(c.Dir, program)
		}
		if path, err := exec.LookPath(program); err == nil {
			return []string{path}
		}
		return nil
	}
	search := ""
	for _, variable := range c.Env {
		if name, value, ok := strings.Cut(variable, "="); ok && strings.EqualFold(name, "PATH") {
			search = value
		}
	}
	for _, folder := range filepath.SplitList(search) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(c.Dir, folder)
		}
		if path, err := exec.LookPath(filepath.Join(folder, program)); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

func (p *Process) terminate() { p.kill() }

func (p *Process) kill() {
	tree := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.cmd.Process.Pid))
	if tree.Run() != nil {
		p.cmd.Process.Kill()
	}
}

func (p *Process) groupEmpty() bool { return true }

// keepDescriptors has nothing to do: only what is named is inherited.
func keepDescriptors() {}
