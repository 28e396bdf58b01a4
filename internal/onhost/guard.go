package onhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"deployster/internal/runtime/guard"
)

// Keep is the process that undoes a group of guarded actions on this machine, unless the group is
// confirmed. A unit of systemd runs it, whose journal has what it logs.
func Keep(ctx context.Context, at interface {
	guard.Host
	Close() error
}, to io.Writer, key string) error {
	stayInstalled(ctx)
	log := func(err error) { _, _ = fmt.Fprintln(to, err) } // nobody reads it without the journal
	return errors.Join(guard.Keep(ctx, guards(), key, at, log), at.Close())
}

// guards returns the groups of guarded actions of this machine.
func guards() guard.Guards {
	self, err := os.Executable()
	if err != nil {
		self = "/proc/self/exe" // the unit does not start with it, and arming fails
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		boot = nil // as after a reboot: what is armed is undone
	}
	return guard.Guards{DataDir: dataDir(), Units: guard.Units{Program: self, DataDir: dataDir()}, Boot: strings.TrimSpace(string(boot))}
}
