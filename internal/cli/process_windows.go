package cli

import (
	"os"
	"syscall"
)

func endingSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// stdoutClosed: a write to a closed stdout fails there by itself.
func stdoutClosed() bool { return false }
