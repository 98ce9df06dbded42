//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the largest resident size of the process or of one that it waited
// for; ru_maxrss is in KiB, on macOS in bytes.
func peak(state *os.ProcessState) float64 {
	size := float64(state.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS == "darwin" {
		size /= 1024
	}
	return size / 1024
}
