package versions

import (
	"context"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/plan/artifacts"
)

// ParsePairs reads KEY=VALUE words as parts of a version.
func ParsePairs(pairs []string) (artifact.Version, error) {
	out := artifact.Version{}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, diag.Errorf("Invalid argument", "A version is named by KEY=VALUE, such as ref=c3d4, and not by "+
				"%q.", diag.Visible(pair))
		}
		if _, twice := out[key]; twice {
			return nil, diag.Errorf("Duplicate argument", "Duplicate key %q in the version.", diag.Visible(key))
		}
		out[key] = value
	}
	return out, nil
}

// which finds the version that a person means: the only listed one that has the given
// parts, or without parts the one in use.
func (d *Service) which(ctx context.Context, client artifact.Client, a config.Artifact, info artifact.Info,
	parts artifact.Version) (artifact.Versioned, error) {
	now, _ := d.current(a)
	v1 := info.Protocol == artifact.Concourse1
	switch {
	case len(parts) == 0 && now.Version == nil:
		return now, diag.Errorf("No version of artifact."+a.Name+" is in use", "None is recorded, and none is pinned. Name one by its "+
			"parts, such as ref=c3d4: `deployster artifact versions %s` lists them.", a.Name)
	case len(parts) == 0 && v1:
		return now, nil // a check cannot report whether it still exists: a fetch finds out
	case len(parts) == 0:
		parts = now.Version
	}
	found, c, err := d.matching(ctx, client, a, info, d.question(a, info, ""), parts)
	if err == nil && len(found) == 0 && v1 {
		in := d.question(a, info, "")
		in.From = map[string]artifact.Version{"": parts} // by convention the image lists from that one on, if it exists
		found, _, err = d.matching(ctx, client, a, info, in, parts)
	}
	switch {
	case err != nil:
		return now, d.at(a, err)
	case len(found) == 1:
		return found[0], nil
	case c.Selected == "" && len(c.Spaces) > 0 && !v1:
		return now, d.at(a, noSpace(a, c))
	case len(found) > 1:
		return now, diag.Errorf("More than one version fits", "artifact.%s has several with %s: %s. Name more of its parts.", a.Name,
			pairsOf(parts), named(found))
	}
	return now, diag.Errorf("No version fits", "The image of artifact.%s lists none with %s. The newest that it lists: %s.", a.Name,
		pairsOf(parts), named(c.Newest[max(0, len(c.Newest)-5):]))
}

// matching lists all versions, and returns those of the selected space that have the
// given parts: at most enough of them to see that there is more than one.
func (d *Service) matching(ctx context.Context, client artifact.Client, a config.Artifact, info artifact.Info, in artifact.CheckInput,
	parts artifact.Version) ([]artifact.Versioned, artifact.Checked, error) {
	const enough = 5
	fits := map[string][]artifact.Versioned{}
	in.Each = func(v artifact.Versioned) {
		for key, value := range parts {
			if got, ok := v.Version[key]; !ok || got != value {
				return
			}
		}
		known := fits[v.Space]
		if len(known) < enough && !slices.ContainsFunc(known, func(k artifact.Versioned) bool { return k.Version.Is(v.Version) }) {
			fits[v.Space] = append(known, v)
		}
	}
	c, err := client.Check(ctx, artifacts.Target(a, info.Digest), info, in)
	found := fits[c.Selected]
	if whole := slices.IndexFunc(found, func(v artifact.Versioned) bool { return v.Version.Is(parts) }); whole >= 0 {
		found = found[whole : whole+1]
	}
	return found, c, err
}

// pairsOf writes parts of a version as a person types them.
func pairsOf(v artifact.Version) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(v)) {
		pairs = append(pairs, diag.Visible(key+"="+v[key]))
	}
	return strings.Join(pairs, " ")
}

// named lists versions in a sentence.
func named(list []artifact.Versioned) string {
	var texts []string
	for _, v := range list {
		texts = append(texts, diag.Visible(v.Version.String()))
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}
