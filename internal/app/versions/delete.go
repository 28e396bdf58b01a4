package versions

import (
	"context"
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/plan/artifacts"
	"deployster/state"
)

// Deletable finds the only listed version of an artifact with the given parts, and how to delete it. It returns an error
// for a version that is in use or pinned, by any artifact with the same type and source.
func (d *Service) Deletable(ctx context.Context, name string, parts artifact.Version) (v artifact.Versioned,
	remove func(context.Context) error, err error) {
	a, err := d.find(name)
	if err != nil {
		return v, nil, err
	}
	client, err := d.open(ctx, name)
	if err != nil {
		return v, nil, err
	}
	info, err := client.Info(ctx, artifacts.Target(a, ""))
	if err != nil {
		return v, nil, d.at(a, err)
	}
	if info.Delete == nil {
		return v, nil, d.at(a, diag.Errorf("The image cannot delete versions", "Image %s has no delete. Delete the version by other means.",
			diag.Visible(a.TypeRef)))
	}
	if v, err = d.which(ctx, client, a, info, parts); err != nil {
		return v, nil, err
	}
	if why := d.needed(a, v); why != "" {
		return v, nil, d.at(a, diag.Errorf("The version is needed", "%s %s. It was not deleted.", diag.Visible(v.Version.String()), why))
	}
	return v, func(ctx context.Context) error {
		err := client.Delete(ctx, artifacts.Target(a, info.Digest), info, artifact.DeleteInput{Source: a.Source.Value, Versioned: v})
		if err != nil {
			return d.at(a, err)
		}
		in := d.question(a, info, "")
		in.Fresh = true
		found, _, err := d.matching(ctx, client, a, info, in, v.Version)
		if err == nil && len(found) > 0 {
			err = diag.Errorf("The version still exists", "The delete of image %s ended well, and its check still lists %s.",
				diag.Visible(a.TypeRef), diag.Visible(v.Version.String()))
		}
		return err
	}, nil
}

// needed returns why a version must not be deleted; "" = nothing here needs it.
func (d *Service) needed(a config.Artifact, v artifact.Versioned) string {
	is := func(r artifact.Recipe) bool { return r.Space == v.Space && r.Version.Is(v.Version) }
	for _, name := range slices.Sorted(maps.Keys(d.o.Prior.Artifacts)) {
		if prior := d.o.Prior.Artifacts[name]; is(prior.Recipe) && artifacts.SameLine(a, prior) {
			return "is in use: the state records it for artifact." + name
		}
	}
	for _, key := range slices.Sorted(maps.Keys(d.o.Prior.Pins)) {
		if p := d.o.Prior.Pins[key]; is(p.Recipe) && artifacts.SameLine(a, state.Artifact{Pin: p}) {
			return "is in use: resources of the state were made with it"
		}
	}
	for _, name := range d.Names() {
		other := d.declared[name]
		p, where := d.held(other)
		if where != "" && p.Version != nil && v.Version.Is(p.Version) && (p.Space == "" || p.Space == v.Space) &&
			artifacts.SameLine(a, asIfRecorded(other, p)) {
			return "is pinned for artifact." + name + " in the " + where
		}
	}
	return ""
}
