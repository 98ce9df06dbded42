//go:build unix && !linux

package cli

import "os"

func systemSignals() []os.Signal { return nil }
