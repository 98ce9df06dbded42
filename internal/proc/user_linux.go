package proc

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Possible reports why a command cannot be started as the user in a folder: we
// are not root, the user is none of this user namespace, or it cannot reach the
// folder. It tries on a thread of its own.
func (u *User) Possible(dir string) error {
	if err := u.valid(); err != nil {
		return err
	}
	return onThread(func() error {
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
			return errno
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(u.GID), uintptr(u.GID), uintptr(u.GID)); errno != 0 {
			return errno
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(u.UID), uintptr(u.UID), uintptr(u.UID)); errno != 0 {
			return errno
		}
		return unix.Access(dir, unix.X_OK)
	})
}

// valid: root and root's group are no other user, and -1 would be no change.
func (u *User) valid() error {
	if u.UID <= 0 || u.GID <= 0 {
		return syscall.EINVAL
	}
	return nil
}

// start runs a start so that what it starts can never gain a privilege. Other
// than the user, these are attributes of a thread that its children inherit,
// and SysProcAttr has none of them.
func (u *User) start(start func() error) error {
	if err := u.valid(); err != nil {
		return err
	}
	return onThread(func() error {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		// The change of user clears the permitted, effective and ambient sets.
		// Without new privileges these two give nothing back: where they may
		// not be cleared, it does not matter.
		for capability := uintptr(0); capability < 64; capability++ {
			if unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0) != nil {
				break
			}
		}
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		if unix.Capget(&header, &data[0]) == nil {
			data[0].Inheritable, data[1].Inheritable = 0, 0
			unix.Capset(&header, &data[0])
		}
		return start()
	})
}

// onThread runs f on a thread that ends with it, and with what f gave up: a
// goroutine that ends locked takes its thread along, and the runtime starts no
// thread from a locked one. The main thread does not end, and the system judges
// by it who may signal us: it is held back meanwhile.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			done <- onThread(f)
			return
		}
		done <- f()
	}()
	err := <-done
	// A change of user may make us readable again, if the kernel is set so.
	closeToOthers()
	return err
}
