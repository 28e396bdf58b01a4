package apt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// nameAge is how old indexes may be for a name that they do not have to be an error. Older ones
// are updated before it is known whether there is such a package.
const nameAge = 10 * time.Minute

// check refuses a machine with another package manager.
func check(m *access.Machine) error {
	if _, err := os.Stat(m.Path("/usr/bin/apt-get")); err == nil {
		return nil
	}
	for program, name := range map[string]string{"/usr/bin/dnf": "dnf", "/usr/bin/zypper": "zypper", "/sbin/apk": "apk",
		"/usr/bin/pacman": "pacman"} {
		if _, err := os.Stat(m.Path(program)); err == nil {
			return protocol.Errorf(protocol.ConfigError, "", "this machine has %s, and the kinds package and apt_source know only "+
				"apt (Debian, Ubuntu): use exec here", name)
		}
	}
	return protocol.Errorf(protocol.ConfigError, "", "this machine has no apt-get, and the kinds package and apt_source know "+
		"only apt (Debian, Ubuntu)")
}

func asUnsolvable(err error) (*unsolvable, bool) { return errors.AsType[*unsolvable](err) }

// choice returns the action that installs a package, and the package with the version that it will
// have; nil = that is known only after the indexes were updated, or after other actions.
func (k Package) choice(ctx context.Context, c *packageCall, have *PackageState) (protocol.Action, *step, error) {
	action := protocol.Action{Name: installAction, Effects: effects{Open: true}.encoded()}
	later, err := k.later(c)
	if err != nil {
		return action, nil, err
	}
	if later != "" {
		action.Description = fmt.Sprintf("Install %s (%s: its version and what comes with it are known only then)", c.Config.Name, later)
		return action, nil, nil
	}
	x, err := k.wanted(ctx, c, have)
	if missing, ok := errors.AsType[*unknownName](err); ok {
		if missing.at.older(nameAge) {
			action.Description = fmt.Sprintf("Install %s (the package indexes do not have it, and are updated before)", c.Config.Name)
			return action, nil, nil
		}
		return action, nil, protocol.Errorf(protocol.ConfigError, "/name", "%s", err)
	}
	if err != nil {
		return action, nil, err
	}
	if have != nil && x.version != "" && x.version != have.Version {
		if older, err := k.precedes(ctx, x.version, have.Version); err != nil || older {
			x.downgrade, action.Name = true, downgradeAction
		}
	}
	args := arguments([]member{x})
	if have != nil && have.Hold { // the hold is taken off before
		args = append([]string{"--allow-change-held-packages"}, args...)
	}
	would, err := k.would.simulate(ctx, args...)
	if no, ok := asUnsolvable(err); ok {
		return action, nil, protocol.Errorf(protocol.ConfigError, "/name", "%s cannot be installed: %s", x.spec(), no)
	}
	if err != nil {
		return action, nil, err
	}
	action.Effects = would.effects().encoded()
	action.Destructive = len(would.removed()) > 0
	action.Description = described(c.Config.Name, x, would)
	return action, &step{name: bare(x.name), to: x.version}, nil
}

// described reports in words what an installation does.
func described(name string, x member, would transaction) string {
	text := "Install "
	if s, ok := would.of(x.name); ok {
		text += s.String()
	} else {
		text += x.name + " " + x.version
	}
	if x.reinstall {
		text = strings.Replace(text, "Install", "Install again", 1)
	}
	if bare(x.name) != bare(name) {
		text += ", which provides " + name
	}
	if more := would.others(x.name); more != "" {
		text += ": " + more
	}
	return text
}

// later reports what must happen before the version can be known; "" = nothing.
func (k Package) later(c *packageCall) (string, error) {
	if c.IsUnknown("/version") {
		return "after other actions", nil
	}
	if c.IsUnknown("/from") {
		return "after other actions", nil
	}
	if c.Config.From != "" {
		if _, there, err := repositories(k.machine, c.Config.From); err != nil || !there {
			return "after the apt_source " + c.Config.From, err
		}
	}
	valid, err := validity(c)
	if err != nil {
		return "", err
	}
	now, err := readIndexes(k.machine)
	if err == nil && now.older(valid) {
		return now.String() + ", and are updated before", nil
	}
	return "", err
}

// unknownName is a name that no index has.
type unknownName struct {
	name string
	at   indexes
}

func (e *unknownName) Error() string {
	return fmt.Sprintf("there is no package %s for this machine: %s", e.name, e.at)
}

// wanted finds the package and the version that a config means, in the present indexes.
func (k Package) wanted(ctx context.Context, c *packageCall, have *PackageState) (member, error) {
	x := member{verb: "install", name: c.Config.Name, recommends: c.Config.Recommends}
	if have != nil {
		if bare(have.Package) != bare(x.name) {
			x.name = have.Package
		}
		x.reinstall = have.is.flag == "reinstreq"
	}
	p, err := k.policyOf(ctx, x.name)
	if err != nil {
		return x, err
	}
	if !p.known {
		at, err := readIndexes(k.machine)
		return x, errors.Join(err, &unknownName{x.name, at})
	}
	if p.virtual() {
		if x.name, err = k.only(ctx, c); err != nil {
			return x, err
		}
		if p, err = k.policyOf(ctx, x.name); err != nil {
			return x, err
		}
	}
	var from []string
	if c.Config.From != "" {
		uris, there, err := repositories(k.machine, c.Config.From)
		if err != nil {
			return x, err
		}
		if !there {
			return x, fmt.Errorf("there is no apt_source %s on this machine", c.Config.From)
		}
		from = uris
	}
	version, ok := p.choose(c.Config.Version, from)
	if ok {
		x.version = version
		return x, nil
	}
	return x, k.noVersion(c, p)
}

// noVersion reports what is available instead of what the config names.
func (k Package) noVersion(c *packageCall, p policy) error {
	var names []string
	for _, v := range p.versions {
		if len(v.uris) > 0 {
			names = append(names, v.version)
		}
	}
	has := "no version of it is available"
	if len(names) > 0 {
		has = "there is " + listed(names)
	}
	switch {
	case c.Config.From != "" && c.Config.Version == "":
		return protocol.Errorf(protocol.ConfigError, "/from", "the apt_source %s does not have %s: %s elsewhere", c.Config.From,
			c.Config.Name, has)
	case c.Config.Version != "":
		return protocol.Errorf(protocol.ConfigError, "/version", "there is no version %s of %s: %s", c.Config.Version, c.Config.Name, has)
	}
	return protocol.Errorf(protocol.ConfigError, "/name", "%s cannot be installed: %s", c.Config.Name, has)
}

// only returns the one package that provides a virtual name.
func (k Package) only(ctx context.Context, c *packageCall) (string, error) {
	names, err := providersOf(ctx, k.machine, c.Config.Name)
	if err != nil {
		return "", err
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		at, err := readIndexes(k.machine)
		return "", errors.Join(err, &unknownName{c.Config.Name, at})
	case len(names) > 1:
		return "", protocol.Errorf(protocol.ConfigError, "/name", "%s is a virtual name, which several packages provide: name "+
			"one of %s", c.Config.Name, listed(names))
	case c.Config.Version != "":
		return "", protocol.Errorf(protocol.ConfigError, "/version", "%s is a virtual name, which has no version: %s provides it",
			c.Config.Name, names[0])
	}
	return names[0], nil
}

// precedes reports whether a version is older than another, by dpkg's own comparison.
func (k Package) precedes(ctx context.Context, a, b string) (bool, error) {
	err := k.machine.Run(ctx, access.Command{Args: []string{"dpkg", "--compare-versions", a, "lt", b}})
	if exit, ok := errors.AsType[*access.ExitError](err); ok && exit.Code == 1 {
		return false, nil
	}
	return err == nil, err
}
