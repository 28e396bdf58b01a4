//go:build !linux

package rootless

import "syscall"

// Inside reports that this process is in no namespace.
func Inside() bool { return false }

// AsUser changes nothing.
func AsUser(attr *syscall.SysProcAttr) *syscall.SysProcAttr { return attr }
