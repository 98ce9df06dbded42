//go:build unix

package action

import (
	"os"
	"syscall"
)

// own gives a file or folder to the workspace's owner, where we may.
func (w *Workspace) own(path string) error {
	info, err := w.root.Stat(".")
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return w.root.Lchown(path, int(owner.Uid), int(owner.Gid))
}
