package config

import (
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"deployster/internal/base/parallel"
)

// node is a block that others refer to, as it is written: whatever for_each and
// count make of it. What refers to each other in a circle is wrong whether it
// has instances or not.
type node struct {
	b    *moduleBlock
	kind nodeKind
	name string
}

type nodeKind byte

// The kinds of nodes.
const (
	nodeLocal nodeKind = iota
	nodeApply          // what is made when the plan is applied
	nodeModule
	nodeOutput
	nodeResource
	nodeVariable
)

// String names the node as an expression would.
func (n node) String() string {
	root := [...]string{nodeLocal: "local", nodeApply: "apply", nodeModule: "module", nodeOutput: "output", nodeResource: "resource", nodeVariable: "var"}[n.kind]
	return n.b.called(root + "." + n.name)
}

// connection says that one node needs another, and where that is written.
type connection struct {
	to   node
	verb string // for the message about a cycle
	at   hcl.Range
	// order: only what is done first is meant, no value.
	order bool
}

// connect checks all references, finds cycles, and finds out what needs the
// state of a resource.
func (m *Manifest) connect() hcl.Diagnostics {
	var diags hcl.Diagnostics
	links := map[node][]connection{}
	for _, b := range m.moduleBlocks() {
		diags = append(diags, m.dependencies(b)...)
		m.linkBlock(b, links)
	}
	cycles := findCycles(links)
	diags = append(diags, cycles...)
	needs := map[node]bool{}
	for _, b := range m.moduleBlocks() {
		for name, l := range b.locals {
			l.dynamic = len(cycles) > 0 || needsState(links, node{b, nodeLocal, name}, needs) // what is in a cycle cannot be evaluated
		}
		for name, v := range b.variables {
			v.dynamic = b.parent != nil && (len(cycles) > 0 || needsState(links, node{b, nodeVariable, name}, needs))
		}
		for name, o := range b.outputs {
			o.dynamic = len(cycles) > 0 || needsState(links, node{b, nodeOutput, name}, needs)
		}
	}
	for _, b := range m.moduleBlocks() {
		diags = append(diags, m.checkAllRefs(b)...)
	}
	return diags
}

// moduleBlocks are the root and all modules as written, callers first.
func (m *Manifest) moduleBlocks() []*moduleBlock {
	all := []*moduleBlock{m.root}
	for i := 0; i < len(all); i++ {
		for _, name := range sortedKeys(all[i].children) {
			all = append(all, all[i].children[name])
		}
	}
	return all
}

// dependencies reads the dependencies and depends_on of all blocks.
func (m *Manifest) dependencies(b *moduleBlock) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range sortedKeys(b.resources) {
		r := b.resources[name]
		diags = append(diags, m.aliases(b, r)...)
		var d hcl.Diagnostics
		r.dependsOn, d = m.dependsOn(b, r.attrs["depends_on"])
		diags = append(diags, d...)
	}
	for _, name := range sortedKeys(b.calls) {
		c := b.calls[name]
		var d hcl.Diagnostics
		c.dependsOn, d = m.dependsOn(b, c.attrs["depends_on"])
		diags = append(diags, d...)
	}
	return diags
}

// linkBlock adds what the blocks of one module need.
func (m *Manifest) linkBlock(b *moduleBlock, links map[node][]connection) {
	for name, l := range b.locals {
		links[node{b, nodeLocal, name}] = m.connections(l.expr, b, nil)
	}
	for name, o := range b.outputs {
		if a := o.attrs["value"]; a != nil {
			links[node{b, nodeOutput, name}] = m.connections(a.Expr, b, nil)
		}
	}
	names := sortedKeys(b.resources)
	needed := make([][]connection, len(names))
	parallel.For(len(names), func(from, to int) {
		for i := from; i < to; i++ {
			needed[i] = m.resourceConnections(b, b.resources[names[i]])
		}
	})
	for i, name := range names {
		links[node{b, nodeResource, name}] = needed[i]
	}
	for name, child := range b.children {
		c := child.call
		called := node{b, nodeModule, name}
		links[called] = append(m.repetitionConnections(&c.block, b), m.orderConnections(c.dependsOn, b)...)
		for _, v := range child.variables {
			n := node{child, nodeVariable, v.name}
			if a := c.attrs[v.name]; a != nil {
				links[n] = append(m.connections(a.Expr, b, nil), connection{to: called, verb: "belongs to", at: a.Range})
			}
		}
	}
}

// resourceConnections are all that one resource needs.
func (m *Manifest) resourceConnections(b *moduleBlock, r *resource) []connection {
	var out []connection
	for _, expr := range r.expressions() {
		out = append(out, m.connections(expr, b, r)...)
	}
	for _, c := range r.conditions() {
		out = append(out, m.connections(c.expr, b, r)...)
		out = append(out, m.connections(c.message, b, r)...)
	}
	out = append(out, m.repetitionConnections(&r.block, b)...)
	for _, alias := range sortedKeys(r.aliases) {
		if t := r.aliases[alias]; t.resource != nil {
			out = append(out, connection{to: node{b, nodeResource, t.resource.name}, verb: "has the dependency " + alias + " on", at: t.at})
		}
	}
	out = append(out, m.orderConnections(r.dependsOn, b)...)
	if b.call != nil {
		out = append(out, connection{to: node{b.parent, nodeModule, b.call.name}, verb: "belongs to", at: b.call.at})
	}
	return out
}

// expressions are those of a resource that may refer to other resources.
func (r *resource) expressions() []hcl.Expression {
	if a := r.attrs["config"]; a != nil {
		return []hcl.Expression{a.Expr}
	}
	return nil
}

func (m *Manifest) repetitionConnections(r *block, b *moduleBlock) []connection {
	var out []connection
	for _, name := range []string{"for_each", "count"} {
		if a := r.attrs[name]; a != nil {
			out = append(out, m.connections(a.Expr, b, nil)...)
		}
	}
	return out
}

func (m *Manifest) orderConnections(list []dependency, b *moduleBlock) []connection {
	var out []connection
	for _, t := range list {
		switch {
		case t.resource != nil:
			out = append(out, connection{to: node{b, nodeResource, t.resource.name}, verb: "depends on", at: t.at, order: true})
		case t.call != nil && b.children[t.call.name] != nil:
			child := b.children[t.call.name]
			out = append(out, connection{to: node{b, nodeModule, t.call.name}, verb: "depends on", at: t.at, order: true})
			for _, in := range child.everything() {
				out = append(out, connection{to: in, verb: "depends on", at: t.at, order: true})
			}
		}
	}
	return out
}

// everything are the resources of a module, with those of its modules.
func (b *moduleBlock) everything() []node {
	var out []node
	for _, name := range sortedKeys(b.resources) {
		out = append(out, node{b, nodeResource, name})
	}
	for _, name := range sortedKeys(b.children) {
		out = append(out, b.children[name].everything()...)
	}
	return out
}

// connections are the nodes that an expression refers to, those that exist.
func (m *Manifest) connections(expr hcl.Expression, b *moduleBlock, owner *resource) []connection {
	var out []connection
	if names := m.volatileCalls(expr); len(names) > 0 {
		out = append(out, connection{to: node{kind: nodeApply, name: names[0]}, verb: "calls", at: expr.Range()})
	}
	for _, ref := range m.references(expr) {
		name := stepName(ref.t, 1)
		c := connection{verb: "refers to", at: ref.t.SourceRange()}
		switch root := ref.t.RootName(); {
		case root == "local" && b.locals[name] != nil:
			c.to = node{b, nodeLocal, name}
		case root == "var" && b.parent != nil && b.variables[name] != nil:
			c.to = node{b, nodeVariable, name}
		case root == "resource" && b.resources[name] != nil:
			c.to = node{b, nodeResource, name}
		case root == "dep" && owner != nil && owner.aliases[name].resource != nil:
			c.to = node{b, nodeResource, owner.aliases[name].resource.name}
		case root == "module" && b.children[name] != nil:
			c.to = node{b, nodeModule, name}
			for _, o := range outputsOf(ref, b.children[name]) {
				out = append(out, connection{to: node{b.children[name], nodeOutput, o}, verb: c.verb, at: c.at})
			}
		default:
			continue
		}
		out = append(out, c)
	}
	return out
}

// outputsOf are the outputs of a module that a reference may read.
func outputsOf(ref reference, child *moduleBlock) []string {
	steps := ref.t[2:]
	if ref.key != nil || ref.splat {
		steps = ref.rest
	} else if child.call.repeats() && len(steps) > 0 {
		if _, index := steps[0].(hcl.TraverseIndex); index {
			steps = steps[1:]
		}
	}
	if len(steps) > 0 && child.outputs[objectKey(steps[0])] != nil {
		return []string{objectKey(steps[0])}
	}
	return sortedKeys(child.outputs)
}

// repeats reports whether a block has for_each or count.
func (b *block) repeats() bool { return b.attrs["for_each"] != nil || b.attrs["count"] != nil }

// needsState reports whether a value is made of a resource, itself or through
// others. There are no cycles when it is called.
func needsState(links map[node][]connection, from node, done map[node]bool) bool {
	if from.kind == nodeResource || from.kind == nodeApply {
		return true
	}
	if known, ok := done[from]; ok {
		return known
	}
	yes := false
	for _, c := range links[from] {
		if !c.order && needsState(links, c.to, done) {
			yes = true
			break
		}
	}
	done[from] = yes
	return yes
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

// constantText reads an expression that must be a text constant.
func constantText(expr hcl.Expression) (string, bool) {
	v, diags := expr.Value(nil)
	if diags.HasErrors() || v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
		return "", false
	}
	return v.AsString(), true
}

// unwrapped is the inside of a JSON string that is one interpolation.
func unwrapped(text string) (string, bool) {
	inner, found := strings.CutPrefix(text, "${")
	return strings.TrimSuffix(inner, "}"), found && strings.HasSuffix(inner, "}")
}
