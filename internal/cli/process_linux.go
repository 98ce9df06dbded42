package cli

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The real-time signals but for the first three, which C libraries take for
// themselves: the Go runtime lets nobody catch those.
const (
	firstRealTime = 35
	lastRealTime  = 64
)

func systemSignals() []os.Signal {
	// Two of the three would end us on the spot, so they are ignored.
	ignore := [4]uintptr{1} // struct sigaction: SIG_IGN, no flags, an empty mask
	for _, signal := range []uintptr{32, 34} {
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, signal, uintptr(unsafe.Pointer(&ignore)), 0, 8, 0, 0)
	}
	list := []os.Signal{syscall.SIGPWR, syscall.SIGSTKFLT}
	for signal := syscall.Signal(firstRealTime); signal <= lastRealTime; signal++ {
		list = append(list, signal)
	}
	return list
}
