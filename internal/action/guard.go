package action

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// commandFiles are the runner's files that a step may write to.
var commandFiles = []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE"}

// maxRemembered is how much of a command file is remembered, in bytes. The
// runner gives every step files of its own, which are empty at its start.
const maxRemembered = 16 << 20

// Guard remembers the runner's command files and their folders while a server
// runs that may be able to write there (CONTRACT.md section 8).
type Guard struct {
	folders []*guardedFolder // each before those inside it
	files   []guardedFile
}

// guardedFolder is a folder on the way to a command file.
type guardedFolder struct {
	path   string
	info   fs.FileInfo
	handle *os.File // nil where it cannot be read
	direct bool     // it holds a command file
}

type guardedFile struct {
	path    string
	info    fs.FileInfo // nil: there was none
	content []byte
}

// GuardCommandFiles remembers the runner's command files.
func (a *Action) GuardCommandFiles() *Guard {
	g := &Guard{}
	for _, path := range a.commandFiles() {
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			continue
		}
		path = filepath.Join(folder, filepath.Base(path))
		if slices.ContainsFunc(g.files, func(f guardedFile) bool { return f.path == path }) {
			continue
		}
		info, content, err := readCommandFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // no file that we would write to either
		}
		g.files = append(g.files, guardedFile{path, info, content})
		g.addFolder(folder, true)
	}
	return g
}

// commandFiles returns the paths of the runner's files.
func (a *Action) commandFiles() (paths []string) {
	for _, variable := range commandFiles {
		if path := a.gha.Getenv(variable); path != "" {
			if path, err := filepath.Abs(path); err == nil {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

func (g *Guard) addFolder(path string, direct bool) {
	if parent := filepath.Dir(path); parent != path {
		g.addFolder(parent, false)
	}
	for _, f := range g.folders {
		if f.path == path {
			f.direct = f.direct || direct
			return
		}
	}
	if info, err := os.Lstat(path); err == nil {
		handle, _ := os.Open(path)
		g.folders = append(g.folders, &guardedFolder{path, info, handle, direct})
	}
}

// readCommandFile reads a regular file, through no link and without waiting.
func readCommandFile(path string) (fs.FileInfo, []byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fs.ErrInvalid
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openCarefully, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxRemembered))
	return info, content, err
}

// PutBack makes every command file and its folder what they were, and reports
// whether one of them was something else. Call it when nothing of the server is
// running. The error says that a file could not be put back.
func (g *Guard) PutBack() (tampered bool, err error) {
	for _, folder := range g.folders {
		changed, failed := folder.putBack()
		tampered, err = tampered || changed, errors.Join(err, failed)
	}
	for _, file := range g.files {
		if file.intact() {
			continue
		}
		tampered = true
		err = errors.Join(err, file.putBack())
	}
	for _, folder := range g.folders {
		if folder.handle != nil {
			folder.handle.Close()
		}
	}
	return tampered, err
}

func (f *guardedFolder) putBack() (tampered bool, err error) {
	now, err := os.Lstat(f.path)
	if err != nil || !os.SameFile(now, f.info) {
		tampered = true
		if err = moveAside(f.path); err == nil {
			err = f.bringBack()
		}
		if err != nil {
			return true, err
		}
		if now, err = os.Lstat(f.path); err != nil {
			return true, err
		}
	}
	if !f.direct || now.Mode() == f.info.Mode() && sameOwner(now, f.info) {
		return tampered, nil
	}
	return true, errors.Join(os.Chmod(f.path, f.info.Mode().Perm()), giveTo(f.path, f.info))
}

// bringBack puts the folder itself at its place again, where the system can
// say what it is called now, else one like it.
func (f *guardedFolder) bringBack() error {
	if f.handle != nil {
		if path, err := nameOf(f.handle); err == nil {
			if info, err := os.Lstat(path); err == nil && os.SameFile(info, f.info) && os.Rename(path, f.path) == nil {
				return nil
			}
		}
	}
	if err := os.Mkdir(f.path, 0o700); err != nil {
		return err
	}
	return errors.Join(os.Chmod(f.path, f.info.Mode().Perm()), giveTo(f.path, f.info))
}

func (f guardedFile) intact() bool {
	info, content, err := readCommandFile(f.path)
	if f.info == nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil && os.SameFile(info, f.info) && info.Mode() == f.info.Mode() && info.Size() == f.info.Size() &&
		sameOwner(info, f.info) && bytes.Equal(content, f.content)
}

// putBack makes the file anew: whoever holds the other one, by a link or a
// handle, does not hold this one.
func (f guardedFile) putBack() error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL | openCarefully
	if err := moveAside(f.path); err != nil {
		// A file that is mounted by itself stays where it is.
		info, statErr := os.Lstat(f.path)
		if statErr != nil || f.info == nil || !os.SameFile(info, f.info) {
			return err
		}
		flags = os.O_WRONLY | os.O_TRUNC | openCarefully
	}
	if f.info == nil {
		return nil
	}
	file, err := os.OpenFile(f.path, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(f.content)
	return errors.Join(err, file.Chmod(f.info.Mode().Perm()), giveTo(f.path, f.info), file.Close())
}

// moveAside makes room at a path. A folder may hold more than can be removed
// in a bounded time, so it gets another name.
func moveAside(path string) error {
	err := os.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if info, statErr := os.Lstat(path); statErr != nil || !info.IsDir() {
		return err
	}
	return os.Rename(path, path+".mcpeval-"+strings.ToLower(rand.Text()[:8]))
}
