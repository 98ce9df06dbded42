//go:build unix

package action

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// openCarefully opens neither what a link leads to nor, with a wait, a pipe.
const openCarefully = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// own gives a file or folder to the workspace's owner, where we are another.
// Where we may not, it stays ours, and Disowned says so.
func (w *Workspace) own(path string) {
	if os.Geteuid() != 0 {
		return
	}
	uid, gid := ownerOf(w.info)
	if err := w.root.Lchown(path, uid, gid); err != nil {
		w.disowned = true
	}
}

func ownerOf(info fs.FileInfo) (uid, gid int) {
	s := info.Sys().(*syscall.Stat_t)
	return int(s.Uid), int(s.Gid)
}

func sameOwner(a, b fs.FileInfo) bool {
	uid, gid := ownerOf(a)
	otherUID, otherGID := ownerOf(b)
	return uid == otherUID && gid == otherGID
}

// giveTo gives the path to the owner of another file.
func giveTo(path string, owner fs.FileInfo) error {
	if now, err := os.Lstat(path); err == nil && sameOwner(now, owner) {
		return nil
	}
	uid, gid := ownerOf(owner)
	return os.Lchown(path, uid, gid)
}

// nameOf returns what an open file is called now. Only Linux knows.
func nameOf(f *os.File) (string, error) {
	return os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
}
