package migrate

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/internal/migrate/entries"
	"deployster/internal/migrate/tffiles"
	"deployster/internal/migrate/tfrefs"
	"deployster/state"
)

// memory is what the image of a provider keeps about an object in its entry.
type memory struct {
	Kind    string          `json:"kind"`
	Version int64           `json:"version"`
	State   json.RawMessage `json:"state"`
	Private []byte          `json:"private,omitempty"`
	Tainted bool            `json:"tainted,omitempty"`
}

// readState makes an entry of each instance, with its provider's memory: record completes those
// that are declared. The others stay incomplete, as an apply that was killed leaves them.
func (m *migration) readState(root *module, o Options) {
	usual := "terraform.tfstate"
	if m.workspace != "default" {
		usual = filepath.Join("terraform.tfstate.d", m.workspace, usual)
	}
	name := cmp.Or(o.State, filepath.Join(m.dir, usual))
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) && o.State == "" {
		m.result.Notes = append(m.result.Notes, "the state: there is no "+usual+", so that existing objects are unknown. Where it is "+
			"elsewhere: `terraform state pull >FILE`, and -state=FILE.")
		return
	}
	var s tffiles.State
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	switch {
	case err != nil:
		m.stateProblem("Cannot read the state", "%s: %s.", name, err)
		return
	case s.Version != 4:
		m.stateProblem("Cannot read the state", "%s is of version %d, and only 4 is supported: terraform converts it.", name, s.Version)
		return
	}
	m.result.Snapshot = state.Snapshot{Resources: map[string]state.Entry{}, Outputs: map[string]state.Output{}}
	for name, o := range s.Outputs {
		m.result.Snapshot.Outputs[root.called("output", name)] = state.Output{Value: o.Value, Sensitive: o.Sensitive}
	}
	for _, r := range s.Resources {
		m.readResource(root, r)
	}
}

func (m *migration) readResource(root *module, r tffiles.StateResource) {
	k := tfrefs.Key{Data: r.Mode == "data", Kind: r.Type, Name: r.Name}
	shown := strings.TrimPrefix(r.Module+"."+k.String(), ".")
	modules, ok := tfrefs.ModulePath(r.Module)
	at := root.under(modules)
	if !ok || at == nil || at.names[k] == "" {
		if k.Data {
			return // it is read again
		}
		if at = root.movedModule(r.Module); at == nil || at.names[k] == "" {
			m.stateProblem("A resource that is not declared",
				"The state has %s, and the configuration has not: have terraform destroy or forget it first.", shown)
			return
		}
	}
	name, _, _ := strings.Cut(r.Type, "_")
	if b := at.resources[k]; b != nil {
		name = tfrefs.WithoutAlias(tfrefs.ProviderOf(b))
	}
	p := m.providerOf(hcl.Range{}, name, at.sources[name])
	if p == nil {
		return
	}
	for _, i := range r.Instances {
		address := strings.Join(append(root.newPath(modules), at.names[k]), ".") + i.InstanceKey()
		if k.Data {
			m.things[address] = entries.Object{Attributes: i.Attributes, Sensitive: i.Pointers()}
			continue
		}
		if i.Deposed != "" {
			m.stateProblem("A deposed object", "%s has one: have terraform apply once, which destroys it.", shown)
			continue
		}
		if len(i.Attributes) == 0 {
			m.stateProblem("A state that is too old", "%s is recorded as terraform 0.11 did: have terraform refresh it.", shown)
			continue
		}
		said, err := json.Marshal(memory{Kind: r.Type, Version: i.Version, State: i.Attributes, Private: i.Private,
			Tainted: i.Status == "tainted"})
		if err != nil {
			m.stateProblem("Cannot read the state", "%s: %s.", shown, err)
			continue
		}
		m.things[address] = entries.Object{Attributes: i.Attributes, Sensitive: i.Pointers(), Block: at.resources[k]}
		m.result.Snapshot.Resources[address] = state.Entry{Type: p.Image() + "#" + r.Type, Config: json.RawMessage("{}"), Memory: said}
	}
}

func (m *migration) stateProblem(what, format string, args ...any) {
	m.refuse(hcl.Range{}, what, format, args...)
}

// movedModule returns the module to which a moved block of the root module leads.
func (d *module) movedModule(address string) *module {
	modules, _ := tfrefs.ModulePath(address)
	name := func(module string) string { before, _, _ := strings.Cut(module, "["); return before }
	sameName := func(a, b string) bool { return name(a) == name(b) }
	for _, f := range d.files {
		for _, b := range f.body.Blocks {
			from, to := b.Body.Attributes["from"], b.Body.Attributes["to"]
			if b.Type != "moved" || from == nil || to == nil {
				continue
			}
			source, k, _, ok := tfrefs.Address(from.Expr)
			target, _, _, ok2 := tfrefs.Address(to.Expr)
			if ok && ok2 && k.Kind == "" && slices.EqualFunc(source, modules, sameName) {
				return d.under(target)
			}
		}
	}
	return nil
}
