//go:build !linux

package rootless

import (
	"os"
	"syscall"
)

// Inside reports that this process is in no namespace.
func Inside() bool { return false }

// UserID returns the id of the user of this process.
func UserID() int { return os.Geteuid() }

// AsUser changes nothing.
func AsUser(attr *syscall.SysProcAttr) *syscall.SysProcAttr { return attr }
