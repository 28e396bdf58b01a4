package apt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"deployster/machine/internal/access"
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
		return locked(ctx, k.machine, c.Out, "apt-mark", "-o", unkept, c.Action, "--", now.Package)
	}
	return fmt.Errorf("a package has no action %q", c.Action)
}

// change installs the version that the indexes have now: the indexes may have been updated since the plan.
func (k Package) change(ctx context.Context, c *packageCall) error {
	return k.ActTogether(ctx, []*packageCall{c}, func(int) {})[0]
}

// installation returns what the installation of a package needs of apt.
func (k Package) installation(ctx context.Context, c *packageCall) (member, error) {
	x, err := k.wanted(ctx, c, c.Have)
	if missing, ok := errors.AsType[*unknownName](err); ok && missing.at.older(nameAge) {
		if err := update(ctx, k.machine, c.Out, nameAge); err != nil {
			return x, err
		}
		x, err = k.wanted(ctx, c, c.Have)
	}
	if err == nil {
		x.shown, err = shownEffects(c.ShownEffects)
	}
	x.downgrade = c.Action == downgradeAction
	x.unhold = c.Have != nil && c.Have.Hold && c.Config.Hold != nil && *c.Config.Hold
	if err == nil && c.Have == nil && c.Config.Hold != nil {
		x.unhold, err = k.heldOut(ctx, x.name)
	}
	return x, err
}

// heldOut reports whether a package that is not installed is held, so that apt does not install it. The database that
// is read once has no packages without any file.
func (k Package) heldOut(ctx context.Context, name string) (bool, error) {
	text, err := output(ctx, k.machine, "dpkg-query", "-W", "-f", "${db:Status-Want}\n", "--", name)
	if _, unknown := errors.AsType[*access.ExitError](err); unknown {
		return false, nil
	}
	return strings.Contains(text, "hold"), err
}

// Write is not called: Plan has actions of its own.
func (k Package) Write(ctx context.Context, c *packageCall) error { return k.change(ctx, c) }

// Delete removes the package.
func (k Package) Delete(ctx context.Context, c *packageCall) error {
	return k.ActTogether(ctx, []*packageCall{c}, func(int) {})[0]
}

// ActTogether installs or removes many packages, with as few transactions as possible. What cannot be
// done for one of them fails for that one, and is not begun.
func (k Package) ActTogether(ctx context.Context, calls []*packageCall, begin func(i int)) []error {
	errs := make([]error, len(calls))
	err := k.prepare(ctx, calls)
	var members []member
	var index []int // of each member in calls
	for i, c := range calls {
		x, needed := member{}, true
		switch {
		case err != nil:
			errs[i] = err
		case c.Action == removeAction:
			x, needed, errs[i] = k.uninstallation(ctx, c)
		default:
			x, errs[i] = k.installation(ctx, c)
		}
		switch {
		case errs[i] != nil:
		case needed:
			members, index = append(members, x), append(index, i)
		default:
			begin(i) // it is done already
		}
	}
	for n, err := range k.transact(ctx, members, calls[0].Out, func(n int) { begin(index[n]) }) {
		errs[index[n]] = err
	}
	return errs
}

// prepare updates the indexes, if one of the installations needs newer ones.
func (k Package) prepare(ctx context.Context, calls []*packageCall) error {
	newest := time.Duration(-1)
	for _, c := range calls {
		valid, err := validity(c)
		if err != nil {
			return err
		}
		if c.Action != removeAction && (newest < 0 || valid < newest) {
			newest = valid
		}
	}
	if newest < 0 {
		return nil
	}
	return update(ctx, k.machine, calls[0].Out, newest)
}

// uninstallation returns what the removal of a package needs of apt, and whether it needs anything.
func (k Package) uninstallation(ctx context.Context, c *packageCall) (x member, needed bool, err error) {
	name := c.Config.Name
	if c.Have != nil {
		name = c.Have.Package
	}
	db, err := k.db.read(ctx)
	if err != nil {
		return x, false, err
	}
	x = member{verb: k.removal(c), name: name}
	x.shown, err = shownEffects(c.ShownEffects)
	return x, !x.done(db), err
}
