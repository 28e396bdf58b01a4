package versions

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/artifact"
	"deployster/plan/artifacts"
)

// Line is what an image lists in one space.
type Line struct {
	Format       int            `json:"format"`
	Name         string         `json:"name"`
	Type         string         `json:"type"` // The image, as the manifest names it.
	Space        string         `json:"space,omitempty"`
	DefaultSpace string         `json:"default_space,omitempty"` // The one that the image announces.
	Spaces       map[string]int `json:"spaces"`                  // How many versions there are in each.
	Versions     []Version      `json:"versions"`                // Oldest first.
	LeftOut      int            `json:"left_out,omitempty"`      // How many older versions are left out.
}

// DefaultLimit is how many of the newest versions are shown.
const DefaultLimit = 20

// Versions lists the newest versions in a space; "" = that of the block, or of the
// version in use, or else the default of the image.
func (d *Service) Versions(ctx context.Context, name, space string, limit int) (Line, error) {
	a, err := d.find(name)
	if err != nil {
		return Line{}, err
	}
	client, err := d.open(ctx, name)
	if err != nil {
		return Line{}, err
	}
	info, err := client.Info(ctx, artifacts.Target(a, ""))
	if err != nil {
		return Line{}, d.at(a, err)
	}
	in := d.question(a, info, space)
	in.Keep = limit
	c, err := client.Check(ctx, artifacts.Target(a, info.Digest), info, in)
	if err != nil {
		return Line{}, d.at(a, err)
	}
	out := Line{Format: Format, Name: name, Type: a.TypeRef, Space: c.Selected, DefaultSpace: c.Default, Spaces: map[string]int{},
		Versions: []Version{}}
	for name, s := range c.Spaces {
		out.Spaces[name] = s.Count
	}
	for _, v := range c.Newest {
		out.Versions = append(out.Versions, Version(v))
	}
	out.LeftOut = c.Spaces[c.Selected].Count - len(out.Versions)
	if len(out.Versions) == 0 && len(c.Spaces) > 0 {
		return out, d.at(a, noSpace(a, c))
	}
	return out, nil
}

// question returns the input of a check that lists all that an image has: with the second protocol from the
// start, with the first from the version in use, as it lists only the newest one otherwise.
func (d *Service) question(a config.Artifact, info artifact.Info, space string) artifact.CheckInput {
	now, _ := d.current(a)
	in := artifact.CheckInput{Source: a.Source.Value, Space: cmp.Or(space, a.Space, now.Space), Fresh: true}
	if info.Protocol == artifact.Concourse1 {
		in.Space = cmp.Or(space, a.Space)
		if now.Version != nil {
			in.From = map[string]artifact.Version{"": now.Version}
		}
	}
	return in
}

// at returns an error with the place of the artifact block that it refers to.
func (d *Service) at(a config.Artifact, err error) error {
	list := diag.From("Cannot inspect an artifact", err)
	for i, one := range list {
		placed := *one
		placed.Address = cmp.Or(placed.Address, "artifact."+a.Name)
		list[i] = d.o.Manifest.Diagnose(&placed, &a.Range)
	}
	return list
}

// noSpace is the error about an image that announces no default space, or lists nothing
// in the selected one.
func noSpace(a config.Artifact, c artifact.Checked) error {
	names := slices.Sorted(maps.Keys(c.Spaces))
	if c.Selected == "" {
		return diag.Errorf("artifact."+a.Name+" has no space", "Its image announces none, so that one must be named with -space, or in "+
			"the block. The spaces are: %s.", quoted(names))
	}
	return diag.Errorf("artifact."+a.Name+" has no version in that space", "Its image lists none in the space %q.%s There are: %s.",
		c.Selected,
		words.DidYouMean(c.Selected, names), quoted(names))
}

// mostNames is how many spaces, or versions, a message names.
const mostNames = 20

func quoted(names []string) string {
	more := ""
	if len(names) > mostNames {
		names, more = names[:mostNames], ", ..."
	}
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = `"` + diag.Visible(name) + `"`
	}
	return strings.Join(shown, ", ") + more
}
