package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

// node is a resource or a local value, as "resource.web" or "local.zone", or
// what a config alone refers to, as "config.web".
type node = string

// connection says that one node needs another, and where that is written.
type connection struct {
	to   node
	verb string // for the message about a cycle
	at   hcl.Range
	from Origin
	// config says that the value of the other resource's config is needed, and
	// with it all that it is made of.
	config bool
}

// connect checks all references, finds cycles, and gives every resource its
// edges.
func (m *Manifest) connect() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range sortedKeys(m.declared.resources) {
		r := m.declared.resources[name]
		diags = append(diags, m.aliases(r)...)
		diags = append(diags, m.dependsOn(r)...)
	}
	links := map[node][]connection{}
	for name, l := range m.declared.locals {
		links["local."+name] = m.connections(l.expr, nil)
	}
	for name, r := range m.declared.resources {
		links["resource."+name] = m.resourceConnections(r)
	}
	cycles := findCycles(links)
	diags = append(diags, cycles...)
	for _, l := range m.declared.locals {
		l.dynamic = len(cycles) > 0 // what is in a cycle cannot be evaluated
	}
	for name, r := range m.declared.resources {
		if a := r.attrs["config"]; a != nil { // added late: no node of its own in a cycle
			links["config."+name] = m.connections(a.Expr, r)
		}
	}
	reach := map[node]map[node]bool{}
	for _, name := range sortedKeys(m.declared.resources) {
		res := &Resource{Address: name, Aliases: map[string]string{}, Range: fromHCL(m.declared.resources[name].at)}
		if len(cycles) == 0 {
			res.Edges = edges(links, "resource."+name, reach)
		}
		for alias, l := range m.declared.resources[name].aliases {
			res.Aliases[alias] = l.address
		}
		m.resources = append(m.resources, res)
	}
	if len(cycles) == 0 {
		for name, l := range m.declared.locals {
			l.dynamic = len(resourcesBehind(links, "local."+name, reach)) > 0
		}
	}
	return append(diags, m.checkAllRefs()...)
}

// checkAllRefs checks the references in the expressions that are evaluated
// with everything; static ones are checked where they are evaluated.
func (m *Manifest) checkAllRefs() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range sortedKeys(m.declared.locals) {
		l := m.declared.locals[name]
		d := m.checkRefs(l.expr, place{what: "a local value"}, nil)
		l.wrong = d.HasErrors()
		diags = append(diags, d...)
	}
	for _, name := range sortedKeys(m.declared.resources) {
		r := m.declared.resources[name]
		if a := r.attrs["config"]; a != nil {
			diags = append(diags, m.checkRefs(a.Expr, place{what: "the config of a resource"}, r)...)
		}
	}
	for _, name := range sortedKeys(m.declared.outputs) {
		if a := m.declared.outputs[name].attrs["value"]; a != nil {
			diags = append(diags, m.checkRefs(a.Expr, place{what: "the value of an output"}, nil)...)
		}
	}
	return diags
}

// aliases reads `dependencies = { alias = resource.NAME }`.
func (m *Manifest) aliases(r *resource) hcl.Diagnostics {
	a := r.attrs["dependencies"]
	if a == nil {
		return nil
	}
	pairs, bad := hcl.ExprMap(unparen(a.Expr))
	if bad.HasErrors() {
		return hcl.Diagnostics{failure(a.Expr.Range(), "Invalid dependencies", "Dependencies are written as { alias = resource.NAME }.")}
	}
	var diags hcl.Diagnostics
	for _, pair := range pairs {
		key, d := pair.Key.Value(nil)
		if d.HasErrors() || key.Type() != cty.String || !key.IsKnown() || key.IsNull() || !validName.MatchString(key.AsString()) {
			diags = append(diags, failure(pair.Key.Range(), "Invalid alias", "An alias is a name: it begins with a letter and has letters, digits, _ and - only."))
			continue
		}
		alias := key.AsString()
		if first, twice := r.aliases[alias]; twice {
			diags = append(diags, failure(pair.Key.Range(), "Declared twice", "The alias %q is there already, at %s:%d. Rename one of them.", alias, first.at.Filename, first.at.Start.Line))
			continue
		}
		address, problem := m.resourceName(pair.Value, "The dependency "+alias)
		if problem != nil {
			diags = append(diags, problem)
			// Known as an alias all the same, so that its uses are no errors too.
			r.aliases[alias] = link{at: pair.Value.Range()}
			continue
		}
		r.aliases[alias] = link{address, pair.Value.Range()}
	}
	return diags
}

// dependsOn reads `depends_on = [resource.NAME]`.
func (m *Manifest) dependsOn(r *resource) hcl.Diagnostics {
	a := r.attrs["depends_on"]
	if a == nil {
		return nil
	}
	list, bad := hcl.ExprList(unparen(a.Expr))
	if bad.HasErrors() {
		return hcl.Diagnostics{failure(a.Expr.Range(), "Invalid depends_on", "It is a list of resources: depends_on = [resource.NAME].")}
	}
	var diags hcl.Diagnostics
	for _, item := range list {
		address, problem := m.resourceName(item, "An element of depends_on")
		if problem != nil {
			diags = append(diags, problem)
			continue
		}
		r.dependsOn = append(r.dependsOn, link{address, item.Range()})
	}
	return diags
}

// resourceName reads an expression that must be resource.NAME.
func (m *Manifest) resourceName(expr hcl.Expression, what string) (string, *hcl.Diagnostic) {
	t := m.asTraversal(expr, true)
	if len(t) != 2 || t.RootName() != "resource" || stepName(t, 1) == "" {
		hint := ""
		if name := t.RootName; len(t) == 1 && m.declared.resources[name()] != nil {
			hint = fmt.Sprintf(" Did you mean resource.%s?", name())
		} else if len(t) > 2 && t.RootName() == "resource" {
			hint = fmt.Sprintf(" Did you mean %s?", traversalString(t[:2]))
		}
		return "", failure(expr.Range(), "Not a resource", "%s must name a resource: resource.NAME.%s", what, hint)
	}
	if d := missing(t, "resource", m.declared.resources, "Declare it with a resource block, or correct the name"); d != nil {
		return "", d
	}
	return stepName(t, 1), nil
}

// resourceConnections are all that one resource needs.
func (m *Manifest) resourceConnections(r *resource) []connection {
	var out []connection
	if a := r.attrs["config"]; a != nil {
		out = m.connections(a.Expr, r)
	}
	for _, alias := range sortedKeys(r.aliases) {
		if l := r.aliases[alias]; l.address != "" {
			out = append(out, connection{to: "resource." + l.address, verb: "has the dependency " + alias + " on", at: l.at, from: FromDependency})
		}
	}
	for _, l := range r.dependsOn {
		out = append(out, connection{to: "resource." + l.address, verb: "depends on", at: l.at, from: FromDependsOn})
	}
	return out
}

// connections are the locals and resources that an expression refers to, those
// that exist.
func (m *Manifest) connections(expr hcl.Expression, owner *resource) []connection {
	var out []connection
	for _, t := range expr.Variables() {
		name := stepName(t, 1)
		c := connection{verb: "refers to", at: t.SourceRange(), from: FromReference}
		switch root := t.RootName(); {
		case root == "local" && m.declared.locals[name] != nil:
			c.to = "local." + name
		case root == "resource" && m.declared.resources[name] != nil:
			c.to = "resource." + name
		case root == "dep" && owner != nil && owner.aliases[name].address != "":
			c.to = "resource." + owner.aliases[name].address
		default:
			continue
		}
		attr := stepName(t, 2) // "" = the resource as a whole
		c.config = strings.HasPrefix(c.to, "resource.") && (attr == "" || attr == "config")
		out = append(out, c)
	}
	return out
}

// strength orders the origins.
func strength(o Origin) int {
	return slices.Index([]Origin{FromDependsOn, FromReference, FromDependency}, o)
}

// edges gives the resources that a node needs, also through locals and through
// the configs of others.
func edges(links map[node][]connection, from node, reach map[node]map[node]bool) []Edge {
	found := map[string]Origin{}
	for _, c := range links[from] {
		eachTarget(links, c, reach, func(t node) {
			name := strings.TrimPrefix(t, "resource.")
			if old, ok := found[name]; !ok || strength(c.from) > strength(old) {
				found[name] = c.from
			}
		})
	}
	out := make([]Edge, 0, len(found))
	for _, to := range sortedKeys(found) {
		out = append(out, Edge{to, found[to]})
	}
	return out
}

// eachTarget calls f with each resource that a connection leads to.
func eachTarget(links map[node][]connection, c connection, reach map[node]map[node]bool, f func(node)) {
	through := c.to
	if name, isResource := strings.CutPrefix(c.to, "resource."); isResource {
		f(c.to)
		if !c.config {
			return
		}
		through = "config." + name
	}
	for t := range resourcesBehind(links, through, reach) {
		f(t)
	}
}

// resourcesBehind are the resources that a local value or a config refers to,
// also through others. There are no cycles when it is called.
func resourcesBehind(links map[node][]connection, from node, reach map[node]map[node]bool) map[node]bool {
	if known, ok := reach[from]; ok {
		return known
	}
	out := map[node]bool{}
	for _, c := range links[from] {
		eachTarget(links, c, reach, func(t node) { out[t] = true })
	}
	reach[from] = out
	return out
}

func isJSON(expr hcl.Expression) bool { return hcljson.IsJSONExpression(expr) }

// jsonString is the text of an expression in JSON syntax that is a string.
func (m *Manifest) jsonString(expr hcl.Expression) (string, bool) {
	r := expr.Range()
	src, ok := m.bytesOf(r.Filename)
	if !ok || !r.CanSliceBytes(src) {
		return "", false
	}
	var text string
	if json.Unmarshal(r.SliceBytes(src), &text) != nil {
		return "", false
	}
	return text, true
}
