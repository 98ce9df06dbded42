//go:build !linux

package action

import "github.com/org/mcpeval-guidance/internal/proc"

// Stranger: outside the container the server runs as we do.
func (a *Action) Stranger() *proc.User { return nil }

// Lock: who runs as we do cannot be locked out.
func (a *Action) Lock() (unlock func()) { return func() {} }
