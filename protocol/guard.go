package protocol

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
)

// GuardFeature is the feature of deploysters that know InitAnswer.Guard and Action.Guarded.
const GuardFeature = "guard"

// Guard is how a type undoes its guarded actions.
type Guard struct {
	Save *Command `json:"save,omitempty"` // saves what Undo needs, before the first guarded action; nil = the argument save
	Undo Command  `json:"undo"`           // restores what was saved
}

// Saving returns the command that saves.
func (g *Guard) Saving() Command {
	if g.Save == nil {
		return Command{Args: []string{saveArg}}
	}
	return *g.Save
}

// GuardInput is a part of the stdin of the commands of a Guard.
type GuardInput struct {
	// Directory is on the machine of the resource, for this resource and this apply alone. What save leaves
	// there is there when undo runs, also after a reboot, and is removed afterwards.
	Directory string `json:"directory"`
}

// SaveInput is the stdin of the command that saves.
type SaveInput struct {
	ActionInput
	Guard GuardInput `json:"guard"`
}

// UndoInput is the stdin of the command that undoes. It has no config: that may hold secrets, and
// the host keeps this input.
type UndoInput struct {
	InitInput
	Guard GuardInput `json:"guard"`
}

// Guarded is implemented by types with guarded actions.
type Guarded[C, S any] interface {
	// Guards reports whether all actions on this object are guarded. Plans may also mark single ones.
	Guards(c *Call[C, S]) bool
	// Save saves in a directory what Undo needs to restore the object as it is now. It changes nothing else.
	Save(ctx context.Context, c *Call[C, S], dir string) error
	// Undo restores what Save has saved in a directory. The saved object may be unchanged, or changed in part,
	// and Undo may run several times.
	Undo(ctx context.Context, log io.Writer, dir string) error
}

// The arguments of the commands of a Guard, for types that use this package.
const (
	saveArg = "save"
	undoArg = "undo"
)

// guard carries out a command of the Guard.
func (s server[C, S]) guard(ctx context.Context, p Process, g Guarded[C, S]) error {
	var in UndoInput
	data, err := io.ReadAll(p.Stdin)
	if err != nil {
		return fmt.Errorf("stdin cannot be read: %w", err)
	}
	if err := readInput(bytes.NewReader(data), &in); err != nil {
		return err
	}
	if in.Guard.Directory == "" {
		return Errorf(BugError, "", "%s has no directory", p.Args[0])
	}
	if p.Args[0] == undoArg {
		return g.Undo(ctx, p.Stderr, in.Guard.Directory)
	}
	p.Stdin = bytes.NewReader(data)
	c, err := s.call(p)
	if err != nil {
		return err
	}
	return g.Save(ctx, c, in.Guard.Directory)
}

// marked returns actions that are all guarded, or none: an older deployster refuses the mark.
func marked(actions []Action, guarded bool) []Action {
	list := slices.Clone(actions)
	for i := range list {
		list[i].Guarded = guarded
	}
	return list
}
