package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

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

// checker finds what is wrong with declarations whatever the world is like.
type checker struct{ refs *refIndex }

// connect checks all references, finds cycles, and finds out what needs the
// state of a resource.
func (ck checker) connect(root *moduleBlock) hcl.Diagnostics {
	var diags hcl.Diagnostics
	links := map[node][]connection{}
	for _, b := range root.all() {
		diags = append(diags, ck.dependencies(b)...)
		ck.linkBlock(b, links)
	}
	cycles := findCycles(links)
	diags = append(diags, cycles...)
	needs := map[node]bool{}
	for _, b := range root.all() {
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
	for _, b := range root.all() {
		diags = append(diags, ck.checkAllRefs(b)...)
	}
	return diags
}

// dependencies reads the dependencies and depends_on of all blocks.
func (ck checker) dependencies(b *moduleBlock) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(b.resources)) {
		r := b.resources[name]
		diags = append(diags, ck.aliases(b, r)...)
		var d hcl.Diagnostics
		r.dependsOn, d = ck.dependsOn(b, r.attrs["depends_on"])
		diags = append(diags, d...)
	}
	for _, name := range slices.Sorted(maps.Keys(b.calls)) {
		c := b.calls[name]
		var d hcl.Diagnostics
		c.dependsOn, d = ck.dependsOn(b, c.attrs["depends_on"])
		diags = append(diags, d...)
	}
	return diags
}

// linkBlock adds what the blocks of one module need.
func (ck checker) linkBlock(b *moduleBlock, links map[node][]connection) {
	for name, l := range b.locals {
		links[node{b, nodeLocal, name}] = ck.connections(l.expr, b, nil)
	}
	for name, o := range b.outputs {
		if a := o.attrs["value"]; a != nil {
			links[node{b, nodeOutput, name}] = ck.connections(a.Expr, b, nil)
		}
	}
	names := slices.Sorted(maps.Keys(b.resources))
	needed := make([][]connection, len(names))
	parallel.For(len(names), func(from, to int) {
		for i := from; i < to; i++ {
			needed[i] = ck.resourceConnections(b, b.resources[names[i]])
		}
	})
	for i, name := range names {
		links[node{b, nodeResource, name}] = needed[i]
	}
	for name, child := range b.children {
		c := child.call
		called := node{b, nodeModule, name}
		links[called] = append(ck.repetitionConnections(&c.block, b), ck.orderConnections(c.dependsOn, b)...)
		for _, v := range child.variables {
			n := node{child, nodeVariable, v.name}
			if a := c.attrs[v.name]; a != nil {
				links[n] = append(ck.connections(a.Expr, b, nil), connection{to: called, verb: "belongs to", at: a.Range})
			}
		}
	}
}

// resourceConnections are all that one resource needs.
func (ck checker) resourceConnections(b *moduleBlock, r *resource) []connection {
	var out []connection
	for _, expr := range r.expressions() {
		out = append(out, ck.connections(expr, b, r)...)
	}
	for _, c := range r.conditions() {
		out = append(out, ck.connections(c.expr, b, r)...)
		out = append(out, ck.connections(c.message, b, r)...)
	}
	out = append(out, ck.repetitionConnections(&r.block, b)...)
	for _, alias := range slices.Sorted(maps.Keys(r.aliases)) {
		if t := r.aliases[alias]; t.resource != nil {
			out = append(out, connection{to: node{b, nodeResource, t.resource.name}, verb: "has the dependency " + alias + " on", at: t.at})
		}
	}
	out = append(out, ck.orderConnections(r.dependsOn, b)...)
	if b.call != nil {
		out = append(out, connection{to: node{b.parent, nodeModule, b.call.name}, verb: "belongs to", at: b.call.at})
	}
	return out
}

func (ck checker) repetitionConnections(r *block, b *moduleBlock) []connection {
	var out []connection
	for _, name := range []string{"for_each", "count"} {
		if a := r.attrs[name]; a != nil {
			out = append(out, ck.connections(a.Expr, b, nil)...)
		}
	}
	return out
}

func (ck checker) orderConnections(list []dependency, b *moduleBlock) []connection {
	var out []connection
	for _, t := range list {
		switch {
		case t.resource != nil:
			out = append(out, connection{to: node{b, nodeResource, t.resource.name}, verb: "depends on", at: t.at, order: true})
		case t.call != nil && b.children[t.call.name] != nil:
			child := b.children[t.call.name]
			out = append(out, connection{to: node{b, nodeModule, t.call.name}, verb: "depends on", at: t.at, order: true})
			for _, in := range everything(child) {
				out = append(out, connection{to: in, verb: "depends on", at: t.at, order: true})
			}
		}
	}
	return out
}

// everything are the resources of a module, with those of its modules.
func everything(b *moduleBlock) []node {
	var out []node
	for _, name := range slices.Sorted(maps.Keys(b.resources)) {
		out = append(out, node{b, nodeResource, name})
	}
	for _, name := range slices.Sorted(maps.Keys(b.children)) {
		out = append(out, everything(b.children[name])...)
	}
	return out
}

// connections are the nodes that an expression refers to, those that exist.
func (ck checker) connections(expr hcl.Expression, b *moduleBlock, owner *resource) []connection {
	var out []connection
	if names := ck.refs.volatileCalls(expr); len(names) > 0 {
		out = append(out, connection{to: node{kind: nodeApply, name: names[0]}, verb: "calls", at: expr.Range()})
	}
	for _, ref := range ck.refs.references(expr) {
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
