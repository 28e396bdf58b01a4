package stage

import (
	"context"
	"errors"
	"os"

	"deployster/config"
	"deployster/internal/app/command"
	"deployster/internal/app/savedplan"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/planfile"
	"deployster/state"
)

// Loaded is what a command works on: a manifest, and the place of the state that belongs to it.
type Loaded struct {
	Manifest  *config.Manifest
	Place     state.Place
	Saved     *plan.Plan // nil = the manifest is planned
	SignedBy  []string   // the ids of the keys that signed the saved plan
	Selection plan.Selection
	Former    *savedplan.Former // the plan that a rollback goes back to; nil = another command
	OnlyShown bool              // what is planned is neither saved nor applied
}

// nothing is in Selection.Only of files without blocks, and covers no address.
const nothing = "(none)"

// Load reads manifests. It limits a selection to the blocks of the files that are named: they may
// be only a part of what belongs to the state. A whole directory is not named: it is the workspace.
func Load(ctx context.Context, c command.Command, in workspace.Inputs, s plan.Selection) (Loaded, error) {
	m, err := c.Work.Manifest(ctx, in)
	if err != nil {
		return Loaded{}, err
	}
	if len(in.Paths) > 0 {
		if s.Only = m.Blocks(); len(s.Only) == 0 {
			s.Only = []string{nothing} // an empty list would be everything
		}
	}
	return Loaded{Manifest: m, Place: c.Work.StatePlace(m), Selection: s}, nil
}

// LoadEmpty returns the empty manifest, which destroys what the state of the workspace has.
func LoadEmpty(c command.Command, s plan.Selection) (Loaded, error) {
	m, err := c.Work.Empty()
	return Loaded{Manifest: m, Place: c.Work.StatePlaceAround(), Selection: s}, err
}

// LoadSaved reads a saved plan, and the manifest that it was made from. check refuses a plan.
func LoadSaved(c command.Command, file string, check func(string, *plan.Plan, planfile.Signatures) error) (Loaded, error) {
	p, signatures, err := savedplan.Read(c.Work, file)
	if err == nil {
		err = check(file, p, signatures)
	}
	if err != nil {
		return Loaded{}, err
	}
	m, err := c.Work.Replay(p.Sources, p.Variables, p.Created)
	if err != nil {
		return Loaded{Saved: p}, err
	}
	l := Loaded{Manifest: m, Saved: p, SignedBy: signatures.IDs(), Place: c.Work.StatePlace(m)}
	if p.Selection.Destroy {
		l.Place = c.Work.StatePlaceAround()
	}
	return l, nil
}

// LoadFormer reads the plan that made the state with a serial, to go back to it. What has gone to another state since is left out.
func LoadFormer(ctx context.Context, c command.Command, serial uint64, s plan.Selection) (Loaded, error) {
	place := c.Work.StatePlaceAround()
	now, err := c.Work.ReadState(ctx, place)
	if err != nil {
		return Loaded{}, err
	}
	then, err := state.At(place, serial, c.Work.Keys)
	if err != nil {
		return Loaded{}, err
	}
	f, err := savedplan.Back(c.Work, then, now)
	if err != nil {
		return Loaded{}, err
	}
	s.Excludes = append(s.Excludes, f.Gone...)
	return Loaded{Manifest: f.Manifest, Place: place, Selection: s, Former: f}, nil
}

// NamesPlan returns an error if the only path reads like a saved plan that does not exist.
func NamesPlan(w *workspace.Workspace, paths []string) error {
	if len(paths) != 1 || workspace.IsManifest(paths[0]) {
		return nil
	}
	if _, err := os.Stat(w.Path(paths[0])); errors.Is(err, os.ErrNotExist) {
		return diag.Errorf("No such file", "%s is neither a saved plan nor a manifest nor a directory. `%s` would save a plan under "+
			"that name.", paths[0], w.Typed("plan", "-out="+paths[0]))
	}
	return nil
}
