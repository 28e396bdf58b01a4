package protocol

import (
	"context"
	"io"
	"slices"
)

// GuardFeature is the feature of deploysters that know InitAnswer.Guard and Action.Guarded.
const GuardFeature = "guard"

// SecretFeature is the feature of deploysters that know Type.Secret.
const SecretFeature = "secret"

// NotifyFeature is the feature of deploysters that know Type.Notify.
const NotifyFeature = "notify"

// Guard is how a type undoes its guarded actions.
type Guard struct {
	Save *Command `json:"save,omitempty"` // saves what Undo needs, before the first guarded action; nil = the argument save
	Undo Command  `json:"undo"`           // restores what was saved
}

// GuardInput is a part of the stdin of the commands of a Guard.
type GuardInput struct {
	// Directory is on the machine of the resource, for this resource and this apply alone. What save leaves
	// in it still exists when undo runs, also after a reboot.
	Directory string `json:"directory"`
}

// Guarded is implemented by types with guarded actions.
type Guarded[C, S any] interface {
	// Guards reports whether all actions on this object are guarded. Plans may also mark single ones.
	Guards(c *Call[C, S]) bool
	// Save saves in a directory what Undo needs to restore the object as it is now. It changes nothing else.
	Save(ctx context.Context, c *Call[C, S], dir string) error
	// Undo restores what Save has saved in a directory. The object may be unchanged, or changed in part, and
	// Undo may run several times.
	Undo(ctx context.Context, log io.Writer, dir string) error
}

// The arguments of the commands of a Guard, for types that use this package.
const (
	saveArg = "save"
	undoArg = "undo"
)

// guard carries out a command of the Guard. The input of undo has no config.
func (s server[C, S]) guard(ctx context.Context, p Process, g Guarded[C, S]) error {
	c, err := s.call(p)
	switch {
	case err != nil:
		return err
	case c.Guard == nil || c.Guard.Directory == "":
		return Errorf(BugError, "", "%s has no directory", p.Args[0])
	case p.Args[0] == undoArg:
		return g.Undo(ctx, p.Stderr, c.Guard.Directory)
	}
	return g.Save(ctx, c, c.Guard.Directory)
}

// marked returns actions that are all guarded, or none: an older deployster refuses the mark.
func marked(actions []Action, guarded bool) []Action {
	list := slices.Clone(actions)
	for i := range list {
		list[i].Guarded = guarded
	}
	return list
}
