package artifacts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/state"
)

// check queries the image for the versions that exist, and chooses one.
func (r *Resolver) check(ctx context.Context, p *Pin, a config.Artifact, held config.Pin, prior state.Artifact, known bool) error {
	if by, gated := r.o.Passing[a.Name]; gated && held.Version == nil {
		return r.checkPassed(ctx, p, a, by, prior)
	} else if gated {
		if err := by.mayPin(a, p, held); err != nil {
			return err
		}
	}
	in := artifact.CheckInput{Source: a.Source.Value, Space: a.Space}
	if in.Space == "" {
		in.Space = held.Space
	}
	v1 := p.Info.Protocol == artifact.Concourse1
	switch {
	case held.Version != nil && v1:
		in.From = map[string]artifact.Version{"": held.Version}
	case held.Version != nil && in.Space != "":
		in.From = map[string]artifact.Version{in.Space: held.Version}
	case held.Version == nil && known:
		in.From = maps.Clone(prior.Heads)
		if !v1 {
			delete(in.From, "") // a version without a space: of a pin whose block names none
		}
	}
	holding := map[string]bool{} // the spaces that list the pinned version, however many newer ones they have
	if held.Version != nil && in.From == nil {
		in.Each = func(v artifact.Versioned) {
			if v.Version.Is(held.Version) {
				holding[v.Space] = true
			}
		}
	}
	c, err := r.o.Client.Check(ctx, Target(a, p.Info.Digest), p.Info, in)
	if err != nil {
		return err
	}
	if r.o.Listed != nil {
		r.o.Listed(a.Name, c)
	}
	newest, found := c.Found()
	chosen, err := r.choose(p, a, held, c, holding[c.Selected], v1)
	if err != nil {
		return err
	}
	p.Metadata = chosen.Metadata
	p.Recipe = artifact.NewRecipe(p.Info, a.Settings, a.Source.Value, a.Params.Value, chosen)
	p.Spaces = map[string]config.SpaceVersion{}
	for space, s := range c.Spaces {
		p.Spaces[space] = config.SpaceVersion{Version: s.Last.Version, Metadata: s.Last.Metadata.Map()}
	}
	if !found || c.Silent {
		p.Spaces[chosen.Space] = config.SpaceVersion{Version: chosen.Version}
	}
	from := chosen.Version
	if held.Version == nil {
		from = p.Was
	}
	if found && from != nil && !newest.Version.Is(from) {
		p.Newer = behind(c, from)
	}
	return nil
}

// behind returns the number of versions after one; 0 = none, or the list does not begin at
// that version, so that the number is unknown.
func behind(c artifact.Checked, from artifact.Version) int {
	for i, v := range slices.Backward(c.Newest) {
		if v.Version.Is(from) {
			return len(c.Newest) - 1 - i
		}
	}
	if s := c.Spaces[c.Selected]; s.Continues {
		return s.Count - 1
	}
	return 0
}

// choose returns the pinned (held) version, else the newest. has = the selected space lists it.
func (r *Resolver) choose(p *Pin, a config.Artifact, held config.Pin, c artifact.Checked, has, v1 bool) (artifact.Versioned, error) {
	newest, found := c.Found()
	if held.Version != nil {
		v := artifact.Versioned{Space: c.Selected, Version: held.Version}
		if v.Space == "" {
			v.Space = held.Space
		}
		listed := slices.IndexFunc(c.Newest, func(n artifact.Versioned) bool { return n.Version.Is(held.Version) })
		switch {
		case listed >= 0:
			return c.Newest[listed], nil
		case found && (has || c.Spaces[c.Selected].Continues):
			return v, nil // it is older than the listed versions that were kept
		case v1:
			p.Note = "its image does not report whether this version still exists: that is known when it is fetched"
			return v, nil
		}
		return v, gone(p, a, held, c)
	}
	switch {
	case found:
		s := c.Spaces[c.Selected]
		p.Unlisted = p.Was != nil && !s.Continues && !listed(c, p.Was)
		return newest, nil
	case c.Silent && p.Was != nil:
		return artifact.Versioned{Version: p.Was}, nil
	case c.Selected == "" && len(c.Spaces) > 0:
		return newest, diag.Errorf("artifact."+a.Name+" has no space", "Its image announces none, so that the block must name "+
			"one: space = \"...\". %s", spaces(c))
	case len(c.Spaces) > 0:
		return newest, diag.Errorf("artifact."+a.Name+" has no version yet", "Its image lists none in the space %q.%s %s",
			c.Selected, words.DidYouMean(c.Selected, slices.Sorted(maps.Keys(c.Spaces))), spaces(c))
	}
	return newest, diag.Errorf("artifact."+a.Name+" has no version yet", "Its image lists none%s. If there must be one, check the "+
		"source of the artifact.", inSpace(c.Selected))
}

// gone is the error for a pinned version that an image does not list.
func gone(p *Pin, a config.Artifact, held config.Pin, c artifact.Checked) error {
	version := diag.Visible(artifact.Version(held.Version).String())
	if p.Pinned == InRollback {
		return diag.Errorf("artifact."+a.Name+": the version of the rollback no longer exists", "%s was used by the plan that the "+
			"rollback goes back to, and its image does not list it any more%s.", version, inSpace(c.Selected))
	}
	return diag.Errorf("artifact."+a.Name+": the pinned version no longer exists", "%s is pinned in the %s, and its image does "+
		"not list it any more%s. `deployster artifact versions %s` lists all versions; pin another one.", version, p.Pinned,
		inSpace(c.Selected), a.Name)
}

func listed(c artifact.Checked, v artifact.Version) bool {
	return slices.ContainsFunc(c.Newest, func(n artifact.Versioned) bool { return n.Version.Is(v) })
}

func inSpace(space string) string {
	if space == "" {
		return ""
	}
	return fmt.Sprintf(" in the space %q", space)
}

// spaces lists the existing spaces for a message, up to a limit.
func spaces(c artifact.Checked) string {
	const most = 20
	names := slices.Sorted(maps.Keys(c.Spaces))
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(", and %d more", len(names)-most)
		names = names[:most]
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%q", name)
	}
	return "There are: " + strings.Join(names, ", ") + more + "."
}
