//go:build unix

package configfile

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestUnreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		"":                         "there is no such file",
		filepath.Join(dir, "none"): "there is no such file",
		dir:                        "is no regular file",
		pipe:                       "is no regular file",
		"/dev/zero":                "is no regular file",
	} {
		if _, err := Read(path, ""); err == nil || err.Error() != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}
