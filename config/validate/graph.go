package validate

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/addresses"
	"deployster/config/decl"
	"deployster/config/refs"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/parallel"
)

// node is a block that others refer to, before for_each and count. A cycle of
// references is an error, whether the blocks have instances or not.
type node struct {
	b    *decl.Module
	kind nodeKind
	name string
}

type nodeKind byte

// The kinds of nodes.
const (
	nodeLocal    nodeKind = iota
	nodeApply             // a function whose result is known only during apply
	nodeArtifact          // a value that is known only in the plan
	nodeHost              // the same
	nodeModule
	nodeOutput
	nodeResource
	nodeVariable
)

// String returns the name of the node in expressions.
func (n node) String() string {
	if n.kind == nodeResource && strings.HasPrefix(n.name, addresses.PublishPrefix) {
		return n.name
	}
	root := [...]string{nodeLocal: "local", nodeApply: "apply", nodeArtifact: "artifact", nodeHost: "host", nodeModule: "module",
		nodeOutput: "output", nodeResource: "resource", nodeVariable: "var"}[n.kind]
	return n.b.Called(root + "." + n.name)
}

// connection is a reference from one node to another that it needs, and its place.
type connection struct {
	to   node
	verb string // for the message about a cycle
	at   hcl.Range
	// order: only the order counts, no value is read.
	order bool
}

// Checker finds the errors in declarations that do not depend on any state.
type Checker struct{ Refs *refs.Index }

// Connect checks all references, finds cycles, and determines which values depend on
// the state of a resource.
func (ck Checker) Connect(root *decl.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	links := map[node][]connection{}
	diags = append(diags, ck.defaults(root)...)
	for _, b := range root.All() {
		diags = append(diags, ck.artifacts(b)...)
		diags = append(diags, ck.dependencies(b)...)
		ck.linkBlock(b, links)
	}
	cycles := findCycles(links)
	diags = append(diags, cycles...)
	needs, waits := map[node]bool{}, map[node]bool{}
	for _, b := range root.All() {
		for name, l := range b.Locals {
			l.NeedsState = len(cycles) > 0 || reaches(links, node{b, nodeLocal, name}, ofState, needs) // cycles have no values
			l.Waits = l.NeedsState || reaches(links, node{b, nodeLocal, name}, ordered, waits)
		}
		for name, v := range b.Variables {
			v.NeedsState = b.Parent != nil && (len(cycles) > 0 || reaches(links, node{b, nodeVariable, name}, ofState, needs))
			v.Waits = v.NeedsState || b.Parent != nil && reaches(links, node{b, nodeVariable, name}, ordered, waits)
		}
		for name, o := range b.Outputs {
			o.NeedsState = len(cycles) > 0 || reaches(links, node{b, nodeOutput, name}, ofState, needs)
			o.Waits = o.NeedsState || reaches(links, node{b, nodeOutput, name}, ordered, waits)
		}
	}
	for _, b := range root.All() {
		diags = append(diags, ck.checkAll(b)...)
		diags = append(diags, ck.deprecated(b)...)
	}
	return diags
}

// dependencies decodes the dependencies, depends_on and subscribe of all blocks.
func (ck Checker) dependencies(b *decl.Module) hcl.Diagnostics {
	diags := b.UnknownSemaphores()
	for _, name := range slices.Sorted(maps.Keys(b.Resources)) {
		r := b.Resources[name]
		diags = append(diags, ck.aliases(b, r)...)
		var d hcl.Diagnostics
		r.DependsOn, d = ck.dependsOn(b, r.Attrs["depends_on"])
		diags = append(diags, d...)
		r.Subscribe, d = ck.dependsOn(b, r.Attrs["subscribe"])
		diags = append(diags, d...)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Calls)) {
		c := b.Calls[name]
		var d hcl.Diagnostics
		c.DependsOn, d = ck.dependsOn(b, c.Attrs["depends_on"])
		diags = append(diags, d...)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Outputs)) {
		o := b.Outputs[name]
		var d hcl.Diagnostics
		o.DependsOn, d = ck.dependsOn(b, o.Attrs["depends_on"])
		diags = append(diags, d...)
	}
	return diags
}

// linkBlock adds the connections of the blocks of one module.
func (ck Checker) linkBlock(b *decl.Module, links map[node][]connection) {
	for name, l := range b.Locals {
		links[node{b, nodeLocal, name}] = ck.connections(l.Expr, b, nil)
	}
	for name, o := range b.Outputs {
		if a := o.Attrs["value"]; a != nil {
			links[node{b, nodeOutput, name}] = append(ck.connections(a.Expr, b, nil), ck.orderConnections(o.DependsOn, b)...)
		}
	}
	names := slices.Sorted(maps.Keys(b.Resources))
	needed := parallel.Map(names, func(name string) []connection { return ck.resourceConnections(b, b.Resources[name]) })
	for i, name := range names {
		links[node{b, nodeResource, name}] = needed[i]
	}
	for name, h := range b.Hosts {
		for _, attr := range slices.Sorted(maps.Keys(h.Attrs)) {
			links[node{b, nodeHost, name}] = append(links[node{b, nodeHost, name}], ck.connections(h.Attrs[attr].Expr, b, nil)...)
		}
	}
	for name, child := range b.Children {
		c := child.Call
		called := node{b, nodeModule, name}
		links[called] = append(ck.repetitionConnections(&c.Block, b), ck.orderConnections(c.DependsOn, b)...)
		for _, v := range child.Variables {
			n := node{child, nodeVariable, v.Name}
			if a := c.Attrs[v.Name]; a != nil {
				links[n] = append(ck.connections(a.Expr, b, nil), connection{to: called, verb: "belongs to", at: a.Range})
			}
		}
	}
}

// resourceConnections returns everything that one resource needs.
func (ck Checker) resourceConnections(b *decl.Module, r *decl.Resource) []connection {
	var out []connection
	for _, expr := range slices.Concat(r.Expressions(), r.Triggers) {
		out = append(out, ck.connections(expr, b, r)...)
	}
	for _, c := range r.Conditions() {
		out = append(out, ck.connections(c.Expr, b, r)...)
		out = append(out, ck.connections(c.Message, b, r)...)
	}
	out = append(out, ck.repetitionConnections(&r.Block, b)...)
	out = append(out, ck.hostConnections(b, r)...)
	for _, alias := range jsondoc.Keys(r.Aliases) {
		if t := r.Aliases[alias]; t.Resource != nil {
			out = append(out, connection{to: node{b, nodeResource, t.Resource.Name}, verb: "has the dependency " + alias + " on", at: t.At})
		}
	}
	out = append(out, ck.orderConnections(slices.Concat(r.DependsOn, r.Subscribe), b)...)
	if b.Call != nil {
		out = append(out, connection{to: node{b.Parent, nodeModule, b.Call.Name}, verb: "belongs to", at: b.Call.At})
	}
	return out
}

func (ck Checker) repetitionConnections(r *decl.Block, b *decl.Module) []connection {
	var out []connection
	for _, name := range decl.Repetitions {
		if a := r.Attrs[name]; a != nil {
			out = append(out, ck.connections(a.Expr, b, nil)...)
		}
	}
	return out
}

// hostConnections returns the host of a resource, from its own host attribute or from
// its type's: the resource needs what the host depends on.
func (ck Checker) hostConnections(b *decl.Module, r *decl.Resource) []connection {
	if a := r.Attrs["host"]; a != nil {
		return isOn(ck.connections(a.Expr, b, nil))
	}
	a := r.Attrs["type"]
	if a == nil || len(b.Root().Hosts) == 0 {
		return nil
	}
	for _, ref := range ck.Refs.References(a.Expr) {
		if t := b.TypeNames()[refs.StepName(ref.Traversal, 1)]; ref.Traversal.RootName() == "type" && t != nil && t.Attrs["host"] != nil {
			return isOn(ck.connections(t.Attrs["host"].Expr, b, nil))
		}
	}
	return nil
}

// isOn sets the verb for cycle messages: a resource is on a host.
func isOn(list []connection) []connection {
	for i := range list {
		if list[i].to.kind == nodeHost {
			list[i].verb = "is on"
		}
	}
	return list
}

func (ck Checker) orderConnections(list []decl.Dependency, b *decl.Module) []connection {
	var out []connection
	for _, t := range list {
		switch {
		case t.Resource != nil:
			out = append(out, connection{to: node{b, nodeResource, t.Resource.Name}, verb: "depends on", at: t.At, order: true})
		case t.Call != nil && b.Children[t.Call.Name] != nil:
			child := b.Children[t.Call.Name]
			out = append(out, connection{to: node{b, nodeModule, t.Call.Name}, verb: "depends on", at: t.At, order: true})
			for _, in := range everything(child) {
				out = append(out, connection{to: in, verb: "depends on", at: t.At, order: true})
			}
		}
	}
	return out
}

// everything returns the resources of a module, including those of its modules.
func everything(b *decl.Module) []node {
	var out []node
	for _, name := range slices.Sorted(maps.Keys(b.Resources)) {
		out = append(out, node{b, nodeResource, name})
	}
	for _, name := range slices.Sorted(maps.Keys(b.Children)) {
		out = append(out, everything(b.Children[name])...)
	}
	return out
}

// connections returns the declared nodes that an expression refers to.
func (ck Checker) connections(expr hcl.Expression, b *decl.Module, owner *decl.Resource) []connection {
	var out []connection
	if names := ck.Refs.ImpureCalls(expr); len(names) > 0 {
		out = append(out, connection{to: node{kind: nodeApply, name: names[0]}, verb: "calls", at: expr.Range()})
	}
	for _, ref := range ck.Refs.References(expr) {
		name := refs.StepName(ref.Traversal, 1)
		c := connection{verb: "refers to", at: ref.Traversal.SourceRange()}
		switch root := ref.Traversal.RootName(); {
		case root == "local" && b.Locals[name] != nil:
			c.to = node{b, nodeLocal, name}
		case root == "var" && b.Parent != nil && b.Variables[name] != nil:
			c.to = node{b, nodeVariable, name}
		case root == "resource" && b.Resources[name] != nil:
			c.to = node{b, nodeResource, name}
		case root == "artifact" && b.Artifacts[name] != nil:
			c.to = node{b, nodeArtifact, name}
		case root == "host" && b.Hosts[name] != nil:
			c.to = node{b, nodeHost, name}
		case root == "publish" && b.Resources[addresses.PublishPrefix+name] != nil:
			c.to = node{b, nodeResource, addresses.PublishPrefix + name}
		case root == "dep" && owner != nil && owner.Aliases[name].Resource != nil:
			c.to = node{b, nodeResource, owner.Aliases[name].Resource.Name}
		case root == "module" && b.Children[name] != nil:
			c.to = node{b, nodeModule, name}
			for _, o := range decl.OutputsOf(ref, b.Children[name]) {
				out = append(out, connection{to: node{b.Children[name], nodeOutput, o}, verb: c.verb, at: c.at})
			}
		default:
			continue
		}
		out = append(out, c)
	}
	return out
}

// ofState reports whether the value of a node depends on a state.
func ofState(n node) bool {
	return n.kind == nodeResource || n.kind == nodeApply || n.kind == nodeArtifact || n.kind == nodeHost
}

// ordered reports whether a node has depends_on, so that its readers must wait too.
func ordered(n node) bool {
	switch n.kind {
	case nodeModule:
		return len(n.b.Children[n.name].Call.DependsOn) > 0
	case nodeOutput:
		return len(n.b.Outputs[n.name].DependsOn) > 0
	}
	return false
}

// reaches reports whether a node for which is holds can be reached from a node. It must
// only be called if there are no cycles.
func reaches(links map[node][]connection, from node, is func(node) bool, done map[node]bool) bool {
	if is(from) {
		return true
	}
	if known, ok := done[from]; ok {
		return known
	}
	yes := false
	for _, c := range links[from] {
		if !c.order && reaches(links, c.to, is, done) {
			yes = true
			break
		}
	}
	done[from] = yes
	return yes
}
