package action

import (
	"crypto/rand"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Workspace is the folder of the checked-out repository. Everything in it is
// reached through an os.Root, so that no symbolic link leads out of it.
type Workspace struct {
	Path     string
	root     *os.Root
	info     fs.FileInfo // as it was before a server ran
	disowned bool
}

// Disowned reports whether something that was written could not be given to
// the workspace's owner, as in a user namespace.
func (w *Workspace) Disowned() bool { return w.disowned }

func openWorkspace(path string) *Workspace {
	if path == "" {
		path = "."
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil
	}
	info, err := root.Stat(".")
	if err != nil {
		return nil
	}
	return &Workspace{Path: path, root: root, info: info}
}

// canWrite reports whether a file can be put at the path, as far as can be
// known before.
func (w *Workspace) canWrite(path string) bool {
	if !filepath.IsLocal(path) || path == "." {
		return false
	}
	info, err := w.root.Stat(path)
	if err == nil {
		return info.Mode().IsRegular()
	}
	if !os.IsNotExist(err) {
		return false // it leads out of the workspace, or through a file
	}
	// A link that leads nowhere yet may still lead out.
	if info, err := w.root.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return false
	}
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		info, err := w.root.Stat(dir)
		if err == nil {
			return info.IsDir()
		}
		if _, lerr := w.root.Lstat(dir); !os.IsNotExist(err) || lerr == nil {
			return false
		}
	}
	return true
}

// Write puts a file into the workspace, whole or not at all, with its
// folders. What it creates belongs to the workspace's owner: in the container
// we are root, and the runner must be able to clean up.
func (w *Workspace) Write(path string, content func(io.Writer) error) error {
	var missing []string
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if _, err := w.root.Lstat(dir); err == nil {
			break
		}
		missing = append(missing, dir)
	}
	if err := w.root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	for _, dir := range missing {
		w.own(dir)
	}
	// A file of our own, moved into place: what a server may have put there
	// meanwhile is neither followed nor waited for.
	temporary := filepath.Join(filepath.Dir(path), ".mcpeval-"+strings.ToLower(rand.Text()[:8]))
	file, err := w.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = content(file)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		w.own(temporary)
		err = w.root.Rename(temporary, path)
	}
	if err != nil {
		w.root.Remove(temporary)
	}
	return err
}
