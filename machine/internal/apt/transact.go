package apt

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"deployster/machine/internal/access"
)

// member is one package of a transaction: what a resource wants of apt.
type member struct {
	verb       string  // install, remove or purge
	name       string  // of the package itself, not of what it provides
	version    string  // "" = the candidate
	recommends *bool   // nil = as apt is configured
	downgrade  bool    // an older version is wanted
	reinstall  bool    // the same version again
	unhold     bool    // the hold is taken off first
	shown      effects // what a plan has shown of it
}

func (x member) spec() string {
	if x.version == "" || x.verb != "install" {
		return x.name
	}
	return x.name + "=" + x.version
}

// options are what members must have in common to be one transaction.
func (x member) options() string {
	var o []string
	switch {
	case x.verb != "install":
	case x.recommends == nil:
	case *x.recommends:
		o = append(o, "--install-recommends")
	default:
		o = append(o, "--no-install-recommends")
	}
	if x.downgrade {
		o = append(o, "--allow-downgrades")
	}
	if x.reinstall {
		o = append(o, "--reinstall")
	}
	return strings.Join(append(o, x.verb), " ")
}

// arguments returns those of apt-get for members with the same options.
func arguments(members []member) []string {
	args := append(strings.Fields(members[0].options()), "--")
	for _, x := range members {
		args = append(args, x.spec())
	}
	return args
}

// transact does what all members want, with as few transactions as their options allow, and returns
// an error or nil for each. Each transaction is simulated before: if one changes a package that no
// plan has shown, all members are refused. If apt finds no solution for members together, each is
// tried alone, so that one which cannot be done fails alone. begin is called with the index of a
// member before anything is changed for it.
func (g manager) transact(ctx context.Context, members []member, log io.Writer, begin func(i int)) []error {
	result := make([]error, len(members))
	groups := map[string][]int{}
	var order []string
	for i, x := range members {
		key := x.options()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	of := func(key string) (group []member) {
		for _, i := range groups[key] {
			group = append(group, members[i])
		}
		return group
	}
	if len(order) > 1 { // the first one changes nothing if a later one is refused
		for _, key := range order {
			would, err := g.would.simulate(ctx, arguments(of(key))...)
			if err != nil {
				continue // it is that group's own
			}
			if err := would.within(of(key)); err != nil {
				return slices.Repeat([]error{err}, len(members))
			}
		}
	}
	for _, key := range order {
		for n, err := range g.together(ctx, of(key), log, func(n int) { begin(groups[key][n]) }) {
			result[groups[key][n]] = err
		}
	}
	return result
}

// together does one transaction.
func (g manager) together(ctx context.Context, group []member, log io.Writer, begin func(n int)) []error {
	result := make([]error, len(group))
	err := g.run(ctx, group, log, func() {
		for n := range group {
			begin(n)
		}
	})
	if _, no := errors.AsType[*unsolvable](err); no && len(group) > 1 {
		for i, x := range group {
			result[i] = g.run(ctx, []member{x}, log, func() { begin(i) })
		}
		return result
	}
	if err == nil {
		return result
	}
	db, failed := g.db.read(ctx)
	for i, x := range group {
		if failed != nil || !x.done(db) {
			result[i] = err
		}
	}
	return result
}

// done reports whether what a member wants is so.
func (x member) done(db *database) bool {
	p := db.find(x.name)
	switch {
	case x.verb == "purge":
		return p == nil || p.status == "not-installed"
	case x.verb == "remove":
		return p == nil || p.status == "not-installed" || p.status == "config-files"
	case x.reinstall:
		return false // nothing reports whether it was
	}
	return p != nil && p.there() && (x.version == "" || p.version == x.version)
}

// run simulates a transaction, and runs it. begin is called in between.
func (g manager) run(ctx context.Context, group []member, log io.Writer, begin func()) error {
	args := arguments(group)
	would, err := g.would.simulate(ctx, args...)
	if err != nil {
		return err
	}
	if err := would.within(group); err != nil {
		return err
	}
	if len(would.removed()) == 0 {
		args = append([]string{"--no-remove"}, args...)
	}
	begin()
	for _, x := range group {
		if x.unhold {
			if err := locked(ctx, g.machine, log, "apt-mark", "-o", unkept, "unhold", "--", x.name); err != nil {
				return err
			}
		}
	}
	return aptGet(ctx, g.machine, log, args...)
}

// finish has dpkg finish what it was interrupted in.
func (g manager) finish(ctx context.Context, log io.Writer) error {
	return locked(ctx, g.machine, log, "dpkg", "--configure", "-a", "--force-confdef", "--force-confold")
}

// bare returns the name of a package without its architecture.
func bare(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return name
}

// manager does what kinds want of apt and dpkg.
type manager struct {
	machine  *access.Machine
	db       *reader
	would    *simulator
	policies *remembered[policy]
}

func newManager(m *access.Machine) manager {
	return manager{m, &reader{machine: m}, &simulator{machine: m, run: simulate}, &remembered[policy]{}}
}
