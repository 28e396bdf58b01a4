package migrate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/base/jsondoc"
	"deployster/state"
)

// tfState is a Terraform state file of version 4, as far as it is needed.
type tfState struct {
	Version   int `json:"version"`
	Outputs   map[string]tfOutput
	Resources []tfResource `json:"resources"`
}

type tfOutput struct {
	Value     json.RawMessage `json:"value"`
	Sensitive bool            `json:"sensitive"`
}

type tfResource struct {
	Module    string       `json:"module"`
	Mode      string       `json:"mode"`
	Type      string       `json:"type"`
	Name      string       `json:"name"`
	Instances []tfInstance `json:"instances"`
}

type tfInstance struct {
	Key        any             `json:"index_key"`
	Status     string          `json:"status"`
	Version    int64           `json:"schema_version"`
	Attributes json.RawMessage `json:"attributes"`
	Sensitive  [][]tfStep      `json:"sensitive_attributes"`
	Private    []byte          `json:"private"`
	Deposed    string          `json:"deposed"`
}

// tfStep is a step of a path: a name, or a value with its type.
type tfStep struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// pointers returns the JSON pointers of the sensitive values.
func (i tfInstance) pointers() (list []string) {
	for _, steps := range i.Sensitive {
		var path []string
		for _, s := range steps {
			var key struct{ Value any }
			if s.Type == "get_attr" {
				key.Value = jsondoc.Text(s.Value)
			} else if json.Unmarshal(s.Value, &key) != nil {
				break // the whole enclosing value is sensitive
			}
			path = append(path, fmt.Sprint(key.Value))
		}
		list = append(list, jsondoc.JoinPointer(path))
	}
	return list
}

// key returns the instance key in brackets, "" without one.
func (i tfInstance) key() string {
	switch key := i.Key.(type) {
	case string:
		return "[" + strconv.Quote(key) + "]"
	case float64:
		return fmt.Sprintf("[%d]", int(key))
	}
	return ""
}

// memory is what the image of a provider keeps about a thing in its entry.
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
		m.result.Notes = append(m.result.Notes, "the state: there is no "+usual+", so nothing is known of what exists. "+
			"Where it is elsewhere: `terraform state pull >FILE`, and -state=FILE.")
		return
	}
	var s tfState
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	switch {
	case err != nil:
		m.stateProblem("Cannot read the state", "%s: %s.", name, err)
		return
	case s.Version != 4:
		m.stateProblem("Cannot read the state", "%s is of version %d, and 4 is understood: terraform writes it anew.", name, s.Version)
		return
	}
	m.result.Snapshot = state.Snapshot{Resources: map[string]state.Entry{}, Outputs: map[string]state.Output{}}
	for name, o := range s.Outputs {
		m.result.Snapshot.Outputs[name] = state.Output{Value: o.Value, Sensitive: o.Sensitive}
	}
	for _, r := range s.Resources {
		m.readResource(root, r)
	}
	m.record(o)
}

func (m *migration) readResource(root *module, r tfResource) {
	k := resourceKey{data: r.Mode == "data", kind: r.Type, name: r.Name}
	shown := strings.TrimPrefix(r.Module+"."+k.String(), ".")
	modules, ok := modulePath(r.Module)
	at := root.under(modules)
	if !ok || at == nil || at.names[k] == "" {
		if k.data {
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
		name = nameIn(keyOf(b))
	}
	p := m.providerOf(hcl.Range{}, name, at.sources[name])
	if p == nil {
		return
	}
	for _, i := range r.Instances {
		address := strings.TrimPrefix(r.Module+"."+at.names[k], ".") + i.key()
		if k.data {
			m.things[address] = thing{attributes: i.Attributes, sensitive: i.pointers()}
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
		m.things[address] = thing{i.Attributes, i.pointers(), at.resources[k]}
		m.result.Snapshot.Resources[address] = state.Entry{Type: p.image() + "#" + r.Type, Config: json.RawMessage("{}"), Memory: said}
	}
}

func (m *migration) stateProblem(what, format string, args ...any) {
	m.refuse(hcl.Range{}, what, format, args...)
}

// modulePath parses module.A["k"].module.B.
func modulePath(address string) (modules []string, ok bool) {
	if address == "" {
		return nil, true
	}
	x, diags := hclsyntax.ParseExpression([]byte(address), "", hcl.InitialPos)
	if diags.HasErrors() {
		return nil, false
	}
	modules, k, _, ok := addressOf(x)
	return modules, ok && k.kind == ""
}

// movedModule returns the module to which a moved block of the root module leads.
func (d *module) movedModule(address string) *module {
	modules, _ := modulePath(address)
	name := func(module string) string { before, _, _ := strings.Cut(module, "["); return before }
	sameName := func(a, b string) bool { return name(a) == name(b) }
	for _, f := range d.files {
		for _, b := range f.body.Blocks {
			from, to := b.Body.Attributes["from"], b.Body.Attributes["to"]
			if b.Type != "moved" || from == nil || to == nil {
				continue
			}
			source, k, _, ok := addressOf(from.Expr)
			target, _, _, ok2 := addressOf(to.Expr)
			if ok && ok2 && k.kind == "" && slices.EqualFunc(source, modules, sameName) {
				return d.under(target)
			}
		}
	}
	return nil
}
