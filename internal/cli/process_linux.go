package cli

import (
	"os"
	"syscall"
)

// The first and the last real-time signal. The C library takes 32 and 33 for
// itself, and with it the Go runtime.
const (
	firstRealTime = 34
	lastRealTime  = 64
)

func systemSignals() []os.Signal {
	list := []os.Signal{syscall.SIGPWR, syscall.SIGSTKFLT}
	for signal := syscall.Signal(firstRealTime); signal <= lastRealTime; signal++ {
		list = append(list, signal)
	}
	return list
}
