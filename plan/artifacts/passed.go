package artifacts

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/state"
	"deployster/state/content"
	"deployster/state/moves"
)

// Passing has the versions of an artifact that have passed what its block names.
type Passing struct {
	By       []string             // the addresses that the block names
	Versions []artifact.Versioned // with which all instances of these were VALID, as far as is recorded; in no order

	made map[string][]map[string]bool // by these addresses, the versions with which each instance was VALID
}

// WaitsError reports that no version of an artifact has passed that is listed still.
type WaitsError struct {
	Name   string           // of the artifact
	By     []string         // the addresses that have not been VALID with Newest
	Newest artifact.Version // the newest version that is listed
}

func (e *WaitsError) Error() string {
	return fmt.Sprintf("no listed version of artifact.%s has passed: %s waits for %s", e.Name, diag.Visible(e.Newest.String()),
		References(e.By))
}

// References returns addresses as a manifest names them, for people.
func References(addresses []string) string {
	var list []string
	for _, addr := range addresses {
		list = append(list, config.Reference(addr))
	}
	return words.All(list)
}

// PassedBy returns the addresses that the artifacts name in passed, sorted.
func PassedBy(list []config.Artifact) (addresses []string) {
	for _, a := range list {
		addresses = append(addresses, a.Passed...)
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}

// Passes returns the versions that have passed a resource, which was VALID now with the versions of a plan. was are those
// before.
func Passes(was []state.Passed, pins map[string]Pin, r *config.Resource, mounts []runner.Mount) []state.Passed {
	used := map[string]bool{}
	for _, m := range mounts {
		if key, _, ok := artifact.ParseMount(m.Source); ok {
			used[key] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		if p := pins[name]; used[p.Key] || r != nil && slices.Contains(r.Artifacts, name) {
			was = content.Passes(was, state.Passed{Line: lineOf(p.Pin), Space: p.Recipe.Space, Version: p.Recipe.Version})
		}
	}
	return was
}

// lineOf names the line of versions of a pin.
func lineOf(p state.Pin) string { return content.Line(p.Type, p.Recipe.Source, p.Sensitive.Source) }

// PassingOf returns, by the names of artifacts with passed, which of their versions a state has recorded as passed. The state
// has the present addresses.
func PassingOf(m *config.Manifest, s state.Snapshot) map[string]Passing {
	out := map[string]Passing{}
	for _, a := range m.Artifacts() {
		if a.Passed != nil {
			out[a.Name] = passingOf(a, m.Resources(), s)
		}
	}
	return out
}

func passingOf(a config.Artifact, declared []*config.Resource, s state.Snapshot) Passing {
	line := content.Line(a.TypeRef, a.Source.Value, a.Source.Sensitive)
	p := Passing{By: a.Passed, made: map[string][]map[string]bool{}}
	var all []artifact.Versioned
	for _, r := range declared {
		i := slices.IndexFunc(a.Passed, func(by string) bool { return moves.Covers(by, r.Address) })
		if i < 0 {
			continue
		}
		valid := map[string]bool{}
		for _, v := range s.Resources[r.Address].Passed {
			if v.Line == line {
				valid[placed(v.Space, v.Version)] = true
				all = append(all, artifact.Versioned{Space: v.Space, Version: v.Version})
			}
		}
		p.made[a.Passed[i]] = append(p.made[a.Passed[i]], valid)
	}
	p.Versions = slices.DeleteFunc(all, func(v artifact.Versioned) bool { return !p.has(v) })
	return p
}

// placed is a version with its space, as a key.
func placed(space string, v artifact.Version) string { return space + "\x00" + v.Key() }

// lacks returns the addresses that a version has not passed.
func (p Passing) lacks(v artifact.Versioned) (by []string) {
	key := placed(v.Space, v.Version)
	for _, name := range p.By {
		if len(p.made[name]) == 0 || slices.ContainsFunc(p.made[name], func(valid map[string]bool) bool { return !valid[key] }) {
			by = append(by, name)
		}
	}
	return by
}

// has reports whether a version has passed.
func (p Passing) has(v artifact.Versioned) bool { return len(p.lacks(v)) == 0 }

// from returns the version to begin a check with, by its space: the one in use, else the first that has passed; nil = there is none.
func (p Passing) from(space string, using artifact.Versioned) map[string]artifact.Version {
	for _, v := range append([]artifact.Versioned{using}, p.Versions...) {
		if v.Version != nil && (space == "" || v.Space == space) {
			return map[string]artifact.Version{v.Space: v.Version}
		}
	}
	return nil
}

// tried is what a check has listed in a space, as an artifact with passed sees it. Positions count from 1; 0 = not listed.
type tried struct {
	count  int
	was    int                // the version in use
	using  artifact.Versioned // that one
	passed int                // the last that has passed
	chosen artifact.Versioned // that one
}

// checkPassed queries the image for the versions that exist, and chooses the newest that has passed.
func (r *Resolver) checkPassed(ctx context.Context, p *Pin, a config.Artifact, by Passing, prior state.Artifact) error {
	using := artifact.Versioned{Space: prior.Recipe.Space, Version: p.Was}
	spaces := map[string]*tried{}
	in := artifact.CheckInput{Source: a.Source.Value, Space: a.Space, From: by.from(a.Space, using), Each: func(v artifact.Versioned) {
		t := spaces[v.Space]
		if t == nil {
			t = &tried{using: using}
			spaces[v.Space] = t
		}
		t.count++
		if p.Was != nil && v.Version.Is(p.Was) {
			t.was, t.using = t.count, v
		}
		if by.has(v) {
			t.passed, t.chosen = t.count, v
		}
	}}
	c, err := r.o.Client.Check(ctx, Target(a, p.Info.Digest), p.Info, in)
	if err != nil {
		return err
	}
	if r.o.Listed != nil {
		r.o.Listed(a.Name, c)
	}
	t := spaces[c.Selected]
	if t == nil {
		t = &tried{using: using}
	}
	chosen, err := r.choosePassed(p, a, by, c, t)
	if err != nil {
		return err
	}
	p.Metadata, p.Recipe = chosen.Metadata, artifact.NewRecipe(p.Info, a.Settings, a.Source.Value, a.Params.Value, chosen)
	return nil
}

// choosePassed returns the newest version that has passed. It is never one from before the version in use, which stays until
// another has passed.
func (r *Resolver) choosePassed(p *Pin, a config.Artifact, by Passing, c artifact.Checked, t *tried) (artifact.Versioned, error) {
	newest, listed := c.Found()
	if !listed && p.Was == nil {
		return r.choose(p, a, config.Pin{}, c, false, false) // reports why there is none
	}
	if listed && !by.has(newest) && !newest.Version.Is(p.Was) {
		p.Waits, p.WaitsFor = newest.Version, by.lacks(newest)
	}
	switch {
	case t.passed > t.was:
		if p.Unlisted = p.Was != nil && t.was == 0; t.was > 0 {
			p.Newer = t.passed - t.was
		}
		return t.chosen, nil
	case t.was > 0 || !listed:
		return t.using, nil
	}
	return newest, &WaitsError{Name: a.Name, By: by.lacks(newest), Newest: newest.Version}
}

// mayPin returns an error if an artifact is pinned at a version that has not passed and is not in use.
func (p Passing) mayPin(a config.Artifact, pin *Pin, held config.Pin) error {
	for _, v := range p.Versions {
		if v.Version.Is(held.Version) && (held.Space == "" || held.Space == v.Space) {
			return nil
		}
	}
	if pin.Was.Is(held.Version) {
		return nil
	}
	return diag.Errorf("artifact."+a.Name+" is pinned at a version that has not passed",
		"%s is pinned in the %s, and %s was not VALID with "+
			"it. Remove the pin, or pin a version that has passed.", diag.Visible(artifact.Version(held.Version).String()), pin.Pinned,
		References(p.By))
}
