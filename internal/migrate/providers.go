package migrate

import (
	"deployster/internal/migrate/tfrefs"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// providerName returns the name of the local value or variable that has the config of a
// provider; the key is NAME or NAME.ALIAS.
func providerName(key string) string { return "provider_" + strings.ReplaceAll(key, ".", "_") }

// findProviders finds the images that a module uses, and the configs of providers that it
// gets from its callers.
func (d *module) findProviders() {
	if d.found {
		return
	}
	d.found, d.inOne = true, d.asksWorkspace()
	for _, k := range slices.SortedFunc(maps.Keys(d.resources), tfrefs.Compare) {
		b := d.resources[k]
		key := tfrefs.ProviderOf(b)
		d.run.providerOf(b.DefRange(), tfrefs.WithoutAlias(key), d.sources[tfrefs.WithoutAlias(key)])
		d.need(key)
	}
	for _, name := range slices.Sorted(maps.Keys(d.calls)) {
		c := d.calls[name]
		if c.module == nil {
			continue
		}
		c.module.findProviders()
		d.inOne = d.inOne || c.module.inOne
		for key := range c.module.needs {
			switch given := c.given(key); {
			case d.providers[given] != nil:
				d.values[given] = true
			case d.out != ".":
				d.needs[given] = true
			}
		}
	}
}

// need records that this module uses a config that its callers pass, if it is not always the same one of the root module.
func (d *module) need(key string) {
	if d.out == "." || !d.run.configured[tfrefs.WithoutAlias(key)] || d.providers[key] != nil {
		return
	}
	if _, one := d.leadsTo(key); !one {
		d.needs[key] = true
	}
}

// leadsTo returns the provider of the root module that a provider of this module stands
// for, if all callers pass the same.
func (d *module) leadsTo(key string) (found string, one bool) {
	if d.out == "." || d.providers[key] != nil {
		return key, d.out == "."
	}
	for i, from := range d.callers {
		next, ok := from.by.leadsTo(from.call.given(key))
		if !ok || i > 0 && next != found {
			return "", false
		}
		found = next
	}
	return found, len(d.callers) > 0
}

// caller is a call of a module, with the module that contains it.
type caller struct {
	by   *module
	call *call
}

// findCallers records the callers of each module.
func (m *migration) findCallers() {
	for _, dir := range slices.Sorted(maps.Keys(m.modules)) {
		d := m.modules[dir]
		for _, name := range slices.Sorted(maps.Keys(d.calls)) {
			if c := d.calls[name]; c.module != nil {
				c.module.callers = append(c.module.callers, caller{d, c})
			}
		}
	}
}

// nameTypes chooses the name of the type block of each provider that the root module configures.
func (m *migration) nameTypes(root *module) {
	m.types = map[string]string{}
	taken := map[string]bool{}
	for _, d := range m.modules {
		for k := range d.resources {
			taken[tfrefs.WithoutAlias(tfrefs.ProviderOf(d.resources[k]))] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(root.providers)) {
		name := strings.ReplaceAll(key, ".", "_")
		for key != tfrefs.WithoutAlias(key) && taken[name] {
			name += "_"
		}
		taken[name], m.types[key] = true, name
	}
}

// typeOf returns the type block of a provider, and the config that its resources must
// give; "" = the type block has it, or there is none.
func (d *module) typeOf(key string) (name, config string) {
	if !d.run.configured[tfrefs.WithoutAlias(key)] {
		return d.run.plainType(tfrefs.WithoutAlias(key)), ""
	}
	if at, one := d.leadsTo(key); one {
		if named := d.run.types[at]; named != "" {
			return named, ""
		}
		return d.run.plainType(tfrefs.WithoutAlias(at)), ""
	}
	return d.run.plainType(tfrefs.WithoutAlias(key)), d.providerConfig(key)
}

// plainType returns the type block of a provider without an alias.
func (m *migration) plainType(name string) string {
	if m.types[name] == "" {
		m.plain[name] = true
	}
	return name
}

// given returns the caller's name of the provider that the called module names key.
func (c *call) given(key string) string {
	if a := c.block.Body.Attributes["providers"]; a != nil {
		pairs, _ := hcl.ExprMap(a.Expr) // terraform rejects anything else than an object
		for _, p := range pairs {
			if k, ok := p.Key.(*hclsyntax.ObjectConsKeyExpr); ok && tfrefs.ProviderIn(k.Wrapped) == key {
				return tfrefs.ProviderIn(p.Value)
			}
		}
	}
	return key
}

// providerConfig returns the expression for the config of a provider, which a module
// passes to a module that it calls.
func (d *module) providerConfig(key string) string {
	switch {
	case d.providers[key] != nil:
		return "local." + providerName(key)
	case d.out == ".":
		return "{}"
	}
	return "var." + providerName(key)
}
