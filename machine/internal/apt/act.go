package apt

import (
	"context"
	"errors"
	"fmt"
)

// Act runs one action.
func (k Package) Act(ctx context.Context, c *packageCall) error {
	switch c.Action {
	case finishAction:
		return k.finish(ctx, c.Out)
	case installAction, downgradeAction:
		return k.change(ctx, c)
	case removeAction:
		return k.Delete(ctx, c)
	case holdAction, unholdAction:
		now, err := k.Read(ctx, c)
		switch {
		case err != nil:
			return err
		case now == nil:
			return fmt.Errorf("%s is not installed, and cannot be held", c.Config.Name)
		}
		return locked(ctx, k.machine, c.Out, "apt-mark", c.Action, "--", now.Package)
	}
	return fmt.Errorf("a package has no action %q", c.Action)
}

// change installs the version that the indexes have now: the indexes may have been updated since the plan.
func (k Package) change(ctx context.Context, c *packageCall) error {
	valid, err := validity(c)
	if err != nil {
		return err
	}
	if err := update(ctx, k.machine, c.Out, valid); err != nil {
		return err
	}
	x, err := k.wanted(ctx, c, c.Have)
	if missing, ok := errors.AsType[*unknownName](err); ok && missing.at.older(nameAge) {
		if err := update(ctx, k.machine, c.Out, nameAge); err != nil {
			return err
		}
		x, err = k.wanted(ctx, c, c.Have)
	}
	if err != nil {
		return err
	}
	x.loses = c.Args
	x.downgrade = c.Action == downgradeAction
	x.unhold = c.Have != nil && c.Have.Hold && c.Config.Hold != nil && *c.Config.Hold
	return k.transact(ctx, []member{x}, c.Out)[0]
}

// Write is not called: Plan has actions of its own.
func (k Package) Write(ctx context.Context, c *packageCall) error { return k.change(ctx, c) }

// Delete removes the package.
func (k Package) Delete(ctx context.Context, c *packageCall) error {
	name := c.Config.Name
	if c.Have != nil {
		name = c.Have.Package
	}
	db, err := k.db.read(ctx)
	if err != nil {
		return err
	}
	x := member{verb: k.removal(c), name: name, loses: c.Args}
	if x.done(db) {
		return nil
	}
	return k.transact(ctx, []member{x}, c.Out)[0]
}
