package versions

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/app/images"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/plan/artifacts"
)

// Change is the change of a pin.
type Change struct {
	Name            string
	Was, Now        artifact.Version // nil = not pinned
	WasSpace, Space string           // the spaces of these versions; "" = of protocol 1, which has none
}

// Moves reports whether the pin changed.
func (c Change) Moves() bool { return !c.Was.Is(c.Now) || c.WasSpace != c.Space }

// Texts returns the versions for a person, with their spaces if these differ.
func (c Change) Texts() (was, now string) {
	was, now = diag.Visible(c.Was.String()), diag.Visible(c.Now.String())
	if c.Was != nil && c.Now != nil && c.WasSpace != c.Space {
		was += fmt.Sprintf(" (space %q)", c.WasSpace)
		now += fmt.Sprintf(" (space %q)", c.Space)
	}
	return was, now
}

// Pin pins an artifact in the lock file. No parts mean the version in use; else the only
// listed version that has them.
func (d *Service) Pin(ctx context.Context, name string, parts artifact.Version) (Change, error) {
	a, err := d.find(name)
	if err != nil {
		return Change{}, err
	}
	if a.Version != nil {
		return Change{}, d.at(a, diag.Errorf("artifact."+name+" is pinned in its block", "Its block has a version, and a pin in the "+
			"lock file as well would be an error. Change the block, or remove its version."))
	}
	client, err := d.open(ctx, name)
	if err != nil {
		return Change{}, err
	}
	info, err := client.Info(ctx, artifacts.Target(a, ""))
	if err != nil {
		return Change{}, d.at(a, err)
	}
	v, err := d.which(ctx, client, a, info, parts)
	if err != nil {
		return Change{}, err
	}
	was, _ := d.locked(name)
	pins := d.pins()
	pins[name] = config.Pin{Space: v.Space, Version: v.Version}
	return Change{Name: name, Was: was.Version, WasSpace: was.Space, Now: v.Version, Space: v.Space}, images.WritePins(d.o.Dir, d.o.Lock,
		pins)
}

// Unpin removes the pin of an artifact from the lock file, also if the artifact is no
// longer declared.
func (d *Service) Unpin(name string) (Change, error) {
	was, pinned := d.locked(name)
	if !pinned {
		a, err := d.find(name)
		switch {
		case err != nil:
			return Change{}, err
		case a.Version != nil:
			return Change{}, d.at(a, diag.Errorf("artifact."+name+" is pinned in its block",
				"The lock file has no pin of it. Remove the version from the block."))
		}
		return Change{}, diag.Errorf("artifact."+name+" is not pinned", "%s has no pin of it.", config.LockName)
	}
	pins := d.pins()
	delete(pins, name)
	return Change{Name: name, Was: was.Version, WasSpace: was.Space}, images.WritePins(d.o.Dir, d.o.Lock, pins)
}

// Upgrade removes the pins of artifacts that are no longer declared from the lock file.
// With newest it also moves all other pins to the newest versions.
func (d *Service) Upgrade(ctx context.Context, newest bool, parallelism int) (changes []Change, err error) {
	pins := d.pins()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		if _, declared := d.declared[name]; declared {
			names = append(names, name)
			continue
		}
		changes = append(changes, Change{Name: name, Was: pins[name].Version, WasSpace: pins[name].Space})
		delete(pins, name)
	}
	if newest && len(names) > 0 {
		resolved, _, err := d.newest(ctx, names, parallelism)
		if err != nil {
			return nil, err
		}
		found := resolved.Pins()
		for _, name := range names {
			if found[name].Recipe.Version == nil {
				continue // nothing has passed what its block names
			}
			change := Change{Name: name, Was: pins[name].Version, WasSpace: pins[name].Space,
				Now: found[name].Recipe.Version, Space: found[name].Recipe.Space}
			pins[name] = config.Pin{Space: change.Space, Version: change.Now}
			if change.Moves() {
				changes = append(changes, change)
			}
		}
	}
	if len(changes) == 0 {
		return nil, nil
	}
	return changes, images.WritePins(d.o.Dir, d.o.Lock, pins)
}

// pins returns a copy of the pins of the lock file.
func (d *Service) pins() map[string]config.Pin {
	out := map[string]config.Pin{}
	if d.o.Lock != nil {
		maps.Copy(out, d.o.Lock.Artifacts)
	}
	return out
}
