//go:build unix && !linux

package proc

import (
	"os"
	"strconv"
	"syscall"
)

// keepDescriptors marks what our own caller left open: no command gets it.
func keepDescriptors() {
	entries, _ := os.ReadDir("/dev/fd")
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
