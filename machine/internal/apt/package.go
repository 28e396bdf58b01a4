package apt

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"deployster/machine/internal/access"
	"deployster/machine/internal/brought"
	"deployster/machine/internal/files"
	"deployster/protocol"
)

// PackageConfig is what a user writes about a package.
type PackageConfig struct {
	Name       string `json:"name" pattern:"^[a-z0-9][a-z0-9+.-]+(:[a-z0-9-]+)?$" deployster:"identity"`
	Version    string `json:"version,omitempty" minLength:"1" deployster:"computed"`
	Hold       *bool  `json:"hold,omitempty" deployster:"computed"`
	Recommends *bool  `json:"recommends,omitempty"`
	From       string `json:"from,omitempty" pattern:"^[A-Za-z0-9_.-]+$"`
	CacheValid string `json:"cache_valid,omitempty" default:"1h"`
	Purge      bool   `json:"purge,omitempty"`
}

var packageDocs = map[string]string{
	"name": "The name of the package, or a virtual name that one package provides. name:arch chooses an architecture.",
	"version": "The version, or a pattern such as 1.22.*. Left out, any version is accepted, and a new package gets the one that " +
		"apt prefers.",
	"hold":        "Whether the package is held at its version. Left out, that is not managed.",
	"recommends":  "Whether an installation also installs what the package recommends. Left out, apt's own setting counts.",
	"from":        "The name of an apt_source that the package is taken from.",
	"cache_valid": "How old the package indexes may be at an installation. Older ones are updated before.",
	"purge":       "Whether a removal also removes the configuration files of the package.",
}

// PackageState is what is installed.
type PackageState struct {
	Name    string `json:"name" doc:"the name in the config"`
	Package string `json:"package" doc:"the package that is installed: another one than name if that is a virtual name"`
	Version string `json:"version" doc:"its version"`
	Hold    bool   `json:"hold" doc:"whether it is held at this version"`

	is installed
}

type packageCall = protocol.Call[PackageConfig, PackageState]

// Package is the kind of the packages of this machine's package manager.
type Package struct{ manager }

// NewPackage returns the kind package.
func NewPackage(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Package{newManager(m)}, protocol.About{Label: "Package", Kind: "linux/package",
		Worker: true, Unknowns: true, Batch: &protocol.Batch{Actions: []string{installAction, removeAction}, Max: 200},
		AutoEdges: []protocol.AutoEdge{{Kind: "linux/apt_source", By: "/from"}}, Docs: packageDocs})
}

// Read returns the package, or what provides it; nil if it is not installed.
func (k Package) Read(ctx context.Context, c *packageCall) (*PackageState, error) {
	if err := check(k.machine); err != nil {
		return nil, err
	}
	if _, err := validity(c); err != nil {
		return nil, err
	}
	db, err := k.db.read(ctx)
	if err != nil {
		return nil, err
	}
	p := db.find(c.Config.Name)
	switch {
	case p == nil || p.status == "not-installed", p.status == "config-files" && (c.Intent == protocol.Present || !c.Config.Purge):
		p, err = k.provider(ctx, c, db)
	}
	if p == nil || err != nil {
		return nil, err
	}
	name := p.name
	if strings.Contains(c.Config.Name, ":") {
		name += ":" + p.arch
	}
	return &PackageState{Name: c.Config.Name, Package: name, Version: p.version, Hold: p.want == "hold", is: *p}, nil
}

// provider returns the installed package that a virtual name stands for: of several, the one
// that is recorded. A removal takes none that was not recorded. A name that is also a package's
// own means that package.
func (k Package) provider(ctx context.Context, c *packageCall, db *database) (*installed, error) {
	names := db.providers(c.Config.Name)
	if len(names) == 0 {
		return nil, nil
	}
	if last := c.LastState; last != nil && slices.Contains(names, last.Package) {
		return db.find(last.Package), nil
	}
	if c.Intent == protocol.Absent {
		return nil, nil
	}
	if p, err := k.policyOf(ctx, c.Config.Name); err != nil || len(p.versions) > 0 {
		return nil, err
	}
	slices.Sort(names)
	return db.find(names[0]), nil
}

func validity(c *packageCall) (time.Duration, error) {
	d, err := time.ParseDuration(c.Config.CacheValid)
	if err != nil || d < 0 {
		return 0, protocol.Errorf(protocol.ConfigError, "/cache_valid", "%q is not a duration: write it as 30m, 1h or 0s",
			c.Config.CacheValid)
	}
	return d, nil
}

// The actions in addition to those that have a name in the protocol.
const (
	finishAction    = "configure"
	installAction   = "install"
	downgradeAction = "downgrade"
	removeAction    = "remove"
	holdAction      = "hold"
	unholdAction    = "unhold"
)

// Plan returns what is to be done for a package.
func (k Package) Plan(ctx context.Context, c *packageCall, have *PackageState) (*protocol.Plan, error) {
	plan := &protocol.Plan{}
	forecast := map[string]any{"name": c.Config.Name}
	changes, err := k.planVersion(ctx, c, have, plan, forecast)
	if err != nil {
		return nil, err
	}
	k.planHold(c, have, plan, forecast, changes)
	own := have != nil && have.is.broken()
	if len(plan.Actions) == 0 && !own {
		return nil, nil
	}
	finish, err := k.planFinish(ctx, own)
	if err != nil {
		return nil, err
	}
	plan.Actions = append(finish, plan.Actions...)
	if own {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Message: "dpkg was interrupted while it changed " +
			"" + have.Package + ", which is " + have.is.status})
	}
	plan.Forecast = forecast
	return plan, nil
}

// planFinish returns the action that has dpkg finish what it was interrupted in, if it was. It
// touches other packages, so it is an action of its own.
func (k Package) planFinish(ctx context.Context, own bool) ([]protocol.Action, error) {
	db, err := k.db.read(ctx)
	if err != nil {
		return nil, err
	}
	names := db.interrupted()
	journal, err := journaled(k.machine)
	if err != nil || len(names) == 0 && !journal {
		return nil, err
	}
	busy, err := heldBy(k.machine)
	switch {
	case err != nil:
		return nil, err
	case busy != nil && own:
		return nil, protocol.Errorf(protocol.TransientError, "/name", "the package is being changed by %s", busy)
	case busy != nil:
		return nil, nil // what is not finished is being done
	case len(names) == 0:
		names = []string{"what it has not recorded yet"}
	}
	slices.Sort(names)
	return []protocol.Action{{Name: finishAction, Description: "Have dpkg finish the interrupted changes of " + listed(names)}}, nil
}

// planVersion plans an installation of a package that is missing, has another version, or is damaged.
func (k Package) planVersion(ctx context.Context, c *packageCall, have *PackageState, plan *protocol.Plan,
	forecast map[string]any) (changes bool, err error) {
	open := c.IsUnknown("/version")
	wrong := have != nil && (open || c.Config.Version != "" && !matches(c.Config.Version, have.Version))
	if have != nil && bare(have.Package) != bare(c.Config.Name) && c.Config.Version != "" {
		return false, protocol.Errorf(protocol.ConfigError, "/version",
			"%s is a virtual name, which has no version: it is provided by %s %s", c.Config.Name, have.Package, have.Version)
	}
	if have != nil && !wrong && have.is.flag == "ok" {
		forecast["package"], forecast["version"] = have.Package, have.Version
		return false, nil
	}
	if wrong && have.Hold && c.Config.Hold == nil {
		return false, protocol.Errorf(protocol.ConfigError, "/version",
			"%s is held at %s by somebody else: hold = false removes the hold, hold = true holds it at the new version",
			have.Package, have.Version)
	}
	if have == nil && c.Config.Hold == nil {
		held, err := k.heldOut(ctx, c.Config.Name)
		if err != nil {
			return false, err
		}
		if held {
			return false, protocol.Errorf(protocol.ConfigError, "/name",
				"%s is not installed, and somebody else holds it so: hold = false removes the hold, hold = true holds it at the "+
					"version that is installed", c.Config.Name)
		}
	}
	action, known, err := k.choice(ctx, c, have)
	if err != nil {
		return false, err
	}
	plan.Actions = []protocol.Action{action}
	switch {
	case known != nil:
		forecast["package"], forecast["version"] = known.name, known.to
	case have != nil:
		plan.Unknown = []string{"/package", "/version"}
	}
	if wrong {
		r := protocol.Reason{Path: "/version"}
		if r.Have, err = json.Marshal(have.Version); err == nil && !open {
			r.Want, err = json.Marshal(c.Config.Version)
		}
		if open {
			r.Message = "known only after other actions"
		}
		plan.Reasons = append(plan.Reasons, r)
	}
	return true, err
}

// planHold plans to hold a package, or to take its hold off before its version changes.
func (k Package) planHold(c *packageCall, have *PackageState, plan *protocol.Plan, forecast map[string]any, changes bool) {
	had := have != nil && have.Hold
	want := had
	if c.Config.Hold != nil {
		want = *c.Config.Hold
	}
	forecast["hold"] = want
	switch {
	case want && (!had || changes):
		plan.Actions = append(plan.Actions, protocol.Action{Name: holdAction, Description: "Hold it at this version"})
	case had && !want:
		plan.Actions = append([]protocol.Action{{Name: unholdAction, Description: "Remove its hold"}}, plan.Actions...)
	}
	if have != nil && had != want {
		r := protocol.Reason{Path: "/hold"}
		r.Have, _ = json.Marshal(had)
		r.Want, _ = json.Marshal(want)
		plan.Reasons = append(plan.Reasons, r)
	}
}

// PlanAbsence shows what else is removed, which makes a removal destructive.
func (k Package) PlanAbsence(ctx context.Context, c *packageCall, have *PackageState) (*protocol.Plan, error) {
	if have.Hold && c.Config.Hold == nil {
		return nil, protocol.Errorf(protocol.ConfigError, "/name", "%s is held at %s by somebody else, and is not removed: "+
			"`apt-mark unhold %s` removes the hold", have.Package, have.Version, have.Package)
	}
	would, err := k.would.simulate(ctx, "--allow-change-held-packages", k.removal(c), "--", have.Package)
	if _, no := asUnsolvable(err); no {
		return nil, protocol.Errorf(protocol.ConfigError, "/name", "%s cannot be removed: %s", have.Package, err)
	}
	if err != nil {
		return nil, err
	}
	others := would.removed(have.Package, bare(have.Package))
	action := protocol.Action{Name: removeAction, Description: "Remove " + have.Package + " " + have.Version,
		Destructive: len(others) > 0 || c.Config.Purge, Effects: would.effects().encoded()}
	if more := would.others(have.Package); more != "" {
		action.Description += ": " + more
	}
	if c.Config.Purge {
		action.Description += ", with its configuration files"
	}
	finish, err := k.planFinish(ctx, have.is.broken())
	if err != nil {
		return nil, err
	}
	if have.Hold {
		finish = append(finish, protocol.Action{Name: unholdAction, Description: "Remove its hold"})
	}
	return &protocol.Plan{Actions: append(finish, action)}, nil
}

func (k Package) removal(c *packageCall) string {
	if c.Config.Purge {
		return "purge"
	}
	return "remove"
}

// Watch reports changes of what dpkg knows.
func (k Package) Watch(ctx context.Context, _ *packageCall, tell func(detail string)) error {
	return files.Watch(ctx, k.machine, statusFile, tell)
}

// Discover lists the packages that somebody has requested.
func (k Package) Discover(ctx context.Context, _ *packageCall, tell func(PackageConfig, string) error) error {
	if err := check(k.machine); err != nil {
		return err
	}
	text, err := output(ctx, k.machine, "apt-mark", "showmanual")
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(text) {
		if err := tell(PackageConfig{Name: name}, bare(name)); err != nil {
			return err
		}
	}
	return nil
}

// Provides returns the directories of a package, its files in directories of all, and its services. Of one that
// is not installed it is what Debian's conventions give a package of this name.
func (k Package) Provides(ctx context.Context, c *packageCall, have *PackageState) ([]protocol.Provided, error) {
	if have != nil {
		return brought.By(k.machine, have.is.name, have.is.arch), nil
	}
	db, err := k.db.read(ctx)
	if err != nil {
		return nil, err
	}
	if p := db.find(c.Config.Name); p != nil { // it was removed, and dpkg kept its list
		if list := brought.By(k.machine, p.name, p.arch); len(list) > 0 {
			return list, nil
		}
	}
	return brought.Customary(bare(c.Config.Name)), nil
}
