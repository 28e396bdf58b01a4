package guard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"deployster/internal/base/durable"
)

// Units are the units of systemd in which the processes of groups run.
type Units struct {
	Program string // this program
	DataDir string
	Dir     string // of units; "" = /etc/systemd/system
	// Systemctl runs systemctl; nil = the one of this machine.
	Systemctl func(ctx context.Context, args ...string) error
}

func unitName(key string) string { return "deployster-guard-" + key + ".service" }

// text returns the unit of a group. It is started when the group is armed, and at each boot until
// the group is settled. Its end leaves what it has started for others, such as containerd.
func (u Units) text(key string) string {
	return fmt.Sprintf(`[Unit]
Description=Undo of guarded actions of deployster
After=local-fs.target systemd-networkd.service networking.service nftables.service ssh.service
RequiresMountsFor=%[2]s
StartLimitIntervalSec=0

[Service]
Type=exec
Environment=DEPLOYSTER_DATA_DIR=%[2]s
ExecStart=%[1]s guard %[3]s
Restart=on-failure
RestartSec=1
KillMode=process
OOMScoreAdjust=-900

[Install]
WantedBy=multi-user.target
`, u.Program, u.DataDir, key)
}

// Usable returns why this machine cannot guard actions.
func (u Units) Usable() error {
	if u.Systemctl != nil {
		return nil
	}
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return errors.New("systemd does not run on this machine: guarded actions need it, for the process that undoes them. " +
			"Remove undo_unless_reached from the host")
	}
	return nil
}

func (u Units) dir() string {
	if u.Dir == "" {
		return "/etc/systemd/system"
	}
	return u.Dir
}

// Start makes the unit of a group durable, and starts it.
func (u Units) Start(ctx context.Context, key string) error {
	wants := filepath.Join(u.dir(), "multi-user.target.wants")
	if err := os.MkdirAll(wants, 0o755); err != nil {
		return err
	}
	unit := filepath.Join(u.dir(), unitName(key))
	if err := durable.WriteFileHere(unit, []byte(u.text(key)), 0o644); err != nil {
		return err
	}
	err := os.Symlink(unit, filepath.Join(wants, unitName(key)))
	if err == nil {
		err = durable.SyncDir(wants)
	}
	if err == nil {
		err = u.systemctl(ctx, "daemon-reload")
	}
	if err == nil {
		err = u.systemctl(ctx, "start", unitName(key))
	}
	return err
}

// Remove removes the unit of a group, and does not end its process.
func (u Units) Remove(ctx context.Context, key string) error {
	wants := filepath.Join(u.dir(), "multi-user.target.wants")
	var all error
	for _, path := range []string{filepath.Join(wants, unitName(key)), filepath.Join(u.dir(), unitName(key))} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return errors.Join(all, u.systemctl(ctx, "daemon-reload"))
}

func (u Units) systemctl(ctx context.Context, args ...string) error {
	if u.Systemctl != nil {
		return u.Systemctl(ctx, args...)
	}
	out, err := exec.CommandContext(ctx, "systemctl", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("systemctl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
