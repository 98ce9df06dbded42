//go:build !linux

package proc

import "errors"

// Possible: only Linux starts a command as another user, in the container.
func (u *User) Possible(string) error { return errors.ErrUnsupported }

func (u *User) start(func() error) error { return errors.ErrUnsupported }
