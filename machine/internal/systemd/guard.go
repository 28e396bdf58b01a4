package systemd

import (
	"context"
	"errors"
	"io"
	"slices"

	"deployster/machine/internal/saved"
)

// cutting are the services that decide whether a machine can be reached.
var cutting = []string{"ssh", "sshd", "ssh.socket", "networking", "systemd-networkd", "NetworkManager"}

// Guards reports whether the actions on the service are guarded.
func (k Service) Guards(c *serviceCall) bool {
	if c.Config.Guarded != nil {
		return *c.Config.Guarded
	}
	return slices.Contains(cutting, c.Config.Name)
}

// was is a service as it was.
type was struct {
	Unit    string `json:"unit"`
	There   bool   `json:"there"`
	Running bool   `json:"running"`
	Enabled bool   `json:"enabled"`
	Restart bool   `json:"restart"` // it takes over what it reads by a restart
}

// Save saves whether the service runs, and starts at boot.
func (k Service) Save(ctx context.Context, c *serviceCall, dir string) error {
	unit := unitName(c.Config.Name)
	p, err := k.show(ctx, unit)
	if err != nil {
		return err
	}
	return saved.Directory{Machine: k.machine, Path: dir}.Put("service", was{Unit: unit, There: p.there(), Running: p.running(),
		Enabled: p.enabled(), Restart: c.Config.OnRefresh == restartAction || p["CanReload"] != "yes"})
}

// Undo has the service run, and start at boot, as before. One that ran takes over its files, which
// may be restored.
func (k Service) Undo(ctx context.Context, _ io.Writer, dir string) error {
	var w was
	if err := (saved.Directory{Machine: k.machine, Path: dir}).Get("service", &w); err != nil || !w.There {
		return err
	}
	p, err := k.show(ctx, w.Unit)
	if err != nil {
		return err
	}
	verb := disableAction
	if w.Enabled {
		verb = enableAction
	}
	if p.enabled() != w.Enabled {
		err = errors.Join(k.reload(ctx, w.Unit), k.systemctl(ctx, verb, "--", w.Unit))
	}
	switch {
	case !w.Running && p.running():
		return errors.Join(err, k.systemctl(ctx, stopAction, "--", w.Unit))
	case !w.Running:
		return err
	case w.Restart || !p.running():
		return errors.Join(err, k.up(ctx, restartAction, w.Unit))
	}
	return errors.Join(err, k.reload(ctx, w.Unit), k.systemctl(ctx, reloadAction, "--", w.Unit))
}
