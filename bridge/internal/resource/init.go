package resource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/bridge/internal/schema"
	"deployster/protocol"
)

// shownKinds is how many kinds an error lists if the type names none.
const shownKinds = 20

// Init answers the init step of a kind.
func (p *Providers) Init(ctx context.Context, in protocol.InitInput) (protocol.InitAnswer, error) {
	known, err := p.Describe(ctx)
	if err != nil {
		return protocol.InitAnswer{}, err
	}
	kind := Kind(in.Type)
	if kind == providerKind {
		return describeProvider(known)
	}
	name, data := strings.CutPrefix(kind, dataPrefix)
	s := known.Resources[kind]
	if data {
		s = known.Data[name]
	}
	if s == nil {
		return protocol.InitAnswer{}, noKind(known, in.Type, kind)
	}
	a := protocol.InitAnswer{Protocol: protocol.MaxVersion, Label: kind, Kind: kind, StateAction: protocol.Command{Args: []string{"state"}},
		Absent: true, Memory: !data, Unknowns: !data, Independent: true,
		Worker: &protocol.Command{Args: []string{"worker"}}}
	for _, plug := range strings.FieldsFunc(p.Plugs, func(r rune) bool { return r == ',' }) {
		name, path, _ := strings.Cut(plug, "=")
		path, writable := strings.CutSuffix(path, ":rw")
		if a.Plugs == nil {
			a.Plugs = map[string]protocol.PlugRequest{}
		}
		a.Plugs[name] = protocol.PlugRequest{ContainerPath: path, Optional: true, Writable: writable}
	}
	config := s.Block.ForConfig()
	properties, _ := config["properties"].(map[string]any)
	if addProvider(known, properties) {
		a.Identity = append(a.Identity, "/provider")
	}
	if data {
		a.Identity = nil
	} else {
		properties[importKey(s)] = map[string]any{"type": []any{"string", "null"},
			"description": "The id of an object that exists already, to adopt it."}
		a.Identity = append(a.Identity, "/"+importKey(s))
	}
	var large, larger bool
	if a.ConfigSchema, large, err = schema.Shared(config); err != nil {
		return a, err
	}
	if a.StateSchema, larger, err = schema.Shared(s.Block.ForState()); large || larger {
		a.Label += ", whose schema is too large: only its provider checks what it is given"
	}
	return a, err
}

// addProvider adds the config of the provider to the properties of a config. false = it has none.
func addProvider(known *schema.Provider, properties map[string]any) bool {
	if len(known.Config.Block.Attributes)+len(known.Config.Block.Blocks) == 0 {
		return false
	}
	inner := known.Config.Block.ForConfig()
	inner["description"] = "The config of the provider."
	inner["default"] = map[string]any{}
	properties["provider"] = inner
	return true
}

// providerKind is not a kind of objects: it stands for the provider itself, so that a user can
// inspect its config, and whether it starts at all.
const providerKind = "provider"

func describeProvider(known *schema.Provider) (a protocol.InitAnswer, err error) {
	a = protocol.InitAnswer{Protocol: protocol.MaxVersion, StateAction: protocol.Command{Args: []string{"state"}},
		Label: fmt.Sprintf("the config of a provider of %d kinds", len(known.Resources)+len(known.Data))}
	a.ConfigSchema, _, err = schema.Shared(known.Config.Block.ForConfig())
	return a, err
}

func noKind(known *schema.Provider, reference, kind string) error {
	kinds := slices.Collect(maps.Keys(known.Resources))
	for name := range known.Ephemeral {
		kinds = append(kinds, ephemeralPrefix+name)
	}
	for name := range known.Data {
		kinds = append(kinds, dataPrefix+name)
	}
	slices.Sort(kinds)
	image, _, _ := strings.Cut(reference, "#")
	if kind == "" {
		return fmt.Errorf("%s has %d kinds: name one after a #, as in %s#%s. The first are: %s", image, len(kinds), image,
			append(kinds, "kind")[0], strings.Join(kinds[:min(len(kinds), shownKinds)], ", "))
	}
	near := ""
	for _, k := range kinds {
		if distance(k, kind) <= 2 || strings.Contains(k, kind) && kind != "" {
			near = ". Did you mean " + k + "?"
			break
		}
	}
	return fmt.Errorf("%s has no %s%s", image, kind, near)
}

// distance returns the edit distance of two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
