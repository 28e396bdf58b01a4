package edges

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/addresses"
	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/limits"
	"deployster/config/refs"
	"deployster/config/trace"
	"deployster/config/values"
	"deployster/internal/base/jsondoc"
)

// maxEdges is the limit on the dependencies of all resources together: ten thousand
// resources that each depend on ten thousand others would fill the memory.
const maxEdges = 2_000_000

// collector finds what values depend on: which instances of which blocks, as far
// as this is known without states.
type collector struct {
	e      *eval.Evaluator
	done   map[eval.MemoKey]*depSet
	budget int
	auto   map[string][]instance.Edge
}

// Link sets the edges of instances and of pending blocks.
func Link(m *eval.Modules, list []*instance.Instance, e *eval.Evaluator) hcl.Diagnostics {
	r := &collector{e: e, done: map[eval.MemoKey]*depSet{}, budget: maxEdges, auto: m.AutoEdges}
	for _, i := range list {
		r.edges(i)
		if r.budget < 0 {
			return hcl.Diagnostics{limits.Exceeded(i.Decl.At, "dependencies of all resources together", maxEdges)}
		}
	}
	for i := range m.Pending {
		p := &m.Pending[i]
		needs := &depSet{}
		r.expr(p.X.Expr, p.X.Scope(), needs)
		p.Needs, p.WaitsFor = needs.addresses(), slices.Sorted(maps.Keys(needs.waits))
		p.Waits = len(p.WaitsFor) > 0
		r.instancesOf(p.X, needs)
		p.Artifacts, p.Facts = slices.Sorted(maps.Keys(needs.files)), slices.Sorted(maps.Keys(needs.facts))
	}
	slices.SortFunc(m.Pending, func(a, b instance.Pending) int { return strings.Compare(a.Address, b.Address) })
	return nil
}

// edges sets the dependencies of one resource.
func (r *collector) edges(i *instance.Instance) {
	var byRef, byOrder, byEvent depSet
	byAlias := map[*instance.Instance]bool{}
	for alias, to := range i.ByAlias {
		byAlias[to] = true
		i.Aliases[alias] = to.Address
	}
	for _, expr := range i.Decl.Expressions() {
		r.expr(expr, i.Scope(), &byRef)
	}
	if host := i.Settings.Host; host != nil {
		byRef.merge(r.host(r.e.M.Hosts.Named[host.Name]))
	}
	r.triggers(i, &byRef)
	for _, c := range i.Decl.Conditions() {
		r.expr(c.Expr, i.Scope(), &byRef)
		r.expr(c.Message, i.Scope(), &byRef)
	}
	r.repetition(i.At.Of, &byRef)
	for _, t := range i.Decl.DependsOn {
		r.dependency(t, i.Scope(), &byOrder)
	}
	for _, t := range i.Decl.Subscribe {
		r.dependency(t, i.Scope(), &byEvent)
	}
	if len(byEvent.found) > 0 {
		i.Subscribes = byEvent.addresses()
	}
	if len(byRef.files) > 0 {
		i.Artifacts = jsondoc.Keys(byRef.files)
	}
	byOrder.merge(&byEvent)
	byOrder.merge(r.module(i.Mod))
	for address := range byRef.waits {
		byOrder.waitFor(address)
	}
	for _, address := range i.WaitsFor { // the pending blocks of its aliases
		byOrder.waitFor(address)
	}
	i.WaitsFor = jsondoc.Keys(byOrder.waits)
	i.Waits = len(i.WaitsFor) > 0
	i.Edges = make([]instance.Edge, 0, len(byRef.found)+len(byAlias))
	for to := range byAlias {
		i.Edges = append(i.Edges, instance.Edge{To: to.Address, Origin: instance.FromDependency})
	}
	for to := range byRef.found {
		if !byAlias[to] {
			i.Edges = append(i.Edges, instance.Edge{To: to.Address, Origin: instance.FromReference})
		}
	}
	for to := range byOrder.found {
		if !byAlias[to] && !byRef.found[to] {
			origin := instance.FromDependsOn
			if byEvent.found[to] {
				origin = instance.FromSubscribe
			}
			i.Edges = append(i.Edges, instance.Edge{To: to.Address, Origin: origin})
		}
	}
	for _, one := range r.auto[i.Address] {
		if !slices.ContainsFunc(i.Edges, func(e instance.Edge) bool { return e.To == one.To }) {
			i.Edges = append(i.Edges, one)
		}
	}
	slices.SortFunc(i.Edges, func(a, b instance.Edge) int { return strings.Compare(a.To, b.To) })
	r.budget -= len(i.Edges)
}

// triggers adds the resources in replace_triggered_by as dependencies.
func (r *collector) triggers(i *instance.Instance, into *depSet) {
	i.Triggers = nil
	for _, expr := range i.Decl.Triggers {
		ref, _ := r.e.M.Refs.AsReference(expr)
		s := r.e.Choose("resource", refs.StepName(ref.Traversal, 1), []refs.Reference{ref}, i.Scope())
		into.through(s.Of)
		s.EachInstance(func(to *instance.Instance) {
			into.add(to)
			t := instance.Trigger{To: to.Address}
			for _, step := range s.Steps() {
				t.Path = append(t.Path, refs.ObjectKey(step))
			}
			i.Triggers = append(i.Triggers, t)
		})
	}
}

// host returns what a host depends on, and so everything on that host.
func (r *collector) host(h *instance.Host) *depSet {
	return r.named(eval.MemoKey{Kind: eval.KindHost, Name: h.Name}, func(into *depSet) {
		for _, attr := range h.Late {
			r.expr(h.Decl.Attrs[attr].Expr, h.At, into)
		}
	})
}

// named finds what a named value depends on, once.
func (r *collector) named(key eval.MemoKey, find func(into *depSet)) *depSet {
	if known, ok := r.done[key]; ok {
		return known
	}
	out := &depSet{}
	r.done[key] = out // there are no cycles
	find(out)
	return out
}

// dependency adds the resources of an element of depends_on.
func (r *collector) dependency(t decl.Dependency, at instance.Scope, into *depSet) {
	switch {
	case t.Resource != nil:
		s := r.e.Choose("resource", t.Resource.Name, []refs.Reference{t.Ref}, at)
		into.through(s.Of)
		s.EachInstance(into.add)
	case t.Call != nil:
		s := r.e.Choose("module", t.Call.Name, []refs.Reference{t.Ref}, at)
		into.through(s.Of)
		s.EachModule(func(mod *instance.Module) { r.everything(mod, into) })
	}
}

// everything adds all resources of a module.
func (r *collector) everything(mod *instance.Module, into *depSet) {
	for name, s := range mod.Resources {
		if mod.Decl.Resources[name].Check != nil {
			continue // nothing comes after what a check reads
		}
		into.through(&s.Expansion)
		for i := range s.List {
			into.add(&s.List[i])
		}
	}
	for _, s := range mod.Children {
		into.through(&s.Expansion)
		for _, child := range s.List {
			r.everything(child, into)
		}
	}
}

// expr adds what an expression refers to.
func (r *collector) expr(expr hcl.Expression, at instance.Scope, into *depSet) {
	for _, ref := range r.e.M.Refs.References(expr) {
		r.ref(ref, at, into)
	}
}

func (r *collector) ref(ref refs.Reference, at instance.Scope, into *depSet) {
	name, mod := refs.StepName(ref.Traversal, 1), at.Mod
	switch ref.Traversal.RootName() {
	case "local":
		if l := mod.Decl.Locals[name]; l != nil && l.Waits {
			into.merge(r.named(eval.MemoKey{Kind: eval.KindLocal, Mod: mod, Name: name},
				func(in *depSet) { r.expr(l.Expr, mod.Scope(), in) }))
		}
	case "var":
		if v := mod.Decl.Variables[name]; v != nil && v.Waits {
			if a := mod.Decl.Call.Attrs[name]; a != nil {
				into.merge(r.named(eval.MemoKey{Kind: eval.KindVariable, Mod: mod, Name: name},
					func(in *depSet) { r.expr(a.Expr, mod.Inputs(), in) }))
			}
		}
	case "each":
		if name == "value" && at.At.Of != nil {
			r.eachValue(at.At, into)
		}
	case "artifact":
		if mod.Decl.Artifacts[name] != nil {
			into.artifact(name)
		}
	case "host":
		names, _ := trace.LackedFacts(r.e, ref, at)
		for _, name := range names {
			into.lack(name)
		}
		for _, h := range trace.HostsOf(r.e, ref, at) {
			into.merge(r.host(h))
		}
	case "publish":
		if s := r.e.M.ResourceSet(r.e, mod, addresses.PublishPrefix+name); s != nil {
			into.add(&s.List[0])
		}
	case "dep":
		if at.Res != nil && at.Res.ByAlias[name] != nil {
			r.instance(at.Res.ByAlias[name], ref.Traversal[2:], into)
		}
	case "resource":
		s := r.e.Choose("resource", name, []refs.Reference{ref}, at)
		into.through(s.Of)
		for _, c := range s.Wants {
			r.instance(&s.List[c.I], c.Wants[0].Steps, into)
		}
		if s.All {
			for i := range s.List {
				r.instance(&s.List[i], s.Every[0].Steps, into)
			}
		}
	case "module":
		r.moduleRef(ref, at, into)
	}
}

// instance adds a resource, and what its config depends on if the reference reads the config.
func (r *collector) instance(i *instance.Instance, steps hcl.Traversal, into *depSet) {
	into.add(i)
	attr := ""
	if len(steps) > 0 {
		attr = refs.ObjectKey(steps[0])
	}
	if a := i.Decl.Attrs["config"]; a != nil && (attr == "" || attr == "config") {
		into.merge(r.named(eval.MemoKey{Kind: eval.KindConfig, Inst: i}, func(in *depSet) { r.expr(a.Expr, i.Scope(), in) }))
	}
}

// moduleRef adds what the outputs of a module depend on, and what everything in it depends on.
func (r *collector) moduleRef(ref refs.Reference, at instance.Scope, into *depSet) {
	s := r.e.Choose("module", refs.StepName(ref.Traversal, 1), []refs.Reference{ref}, at)
	if s.Of == nil {
		return
	}
	into.through(s.Of)
	if s.Of.Learned {
		r.expr(s.Of.Expr, s.Of.Scope(), into)
	}
	s.EachModule(func(mod *instance.Module) {
		into.merge(r.module(mod))
		for _, name := range decl.OutputsOf(ref, mod.Decl) {
			o := mod.Decl.Outputs[name]
			a := o.Attrs["value"]
			if a == nil || !o.Waits {
				continue
			}
			into.merge(r.named(eval.MemoKey{Kind: eval.KindOutput, Mod: mod, Name: name}, func(in *depSet) {
				r.expr(a.Expr, mod.Scope(), in)
				for _, t := range o.DependsOn {
					r.dependency(t, mod.Scope(), in)
				}
			}))
		}
	})
}

// eachValue adds what each.value depends on: only one element of for_each if that is
// a literal, or the instances of another block.
func (r *collector) eachValue(o instance.Occurrence, into *depSet) {
	x, key := o.Of, o.Of.Keys[o.I]
	if _, known := x.Values[key]; known || x.Set {
		return
	}
	if item := refs.Child(x.Expr, key); item != nil {
		r.expr(item, x.Scope(), into)
		return
	}
	if ref, ok := r.e.M.Refs.AsReference(x.Expr); ok && len(ref.Traversal) == 2 && ref.Key == nil && refs.MayRepeat(ref.Traversal) {
		step := hcl.TraverseIndex{Key: values.StringKey(key)}
		r.ref(refs.Reference{Traversal: append(slices.Clone(ref.Traversal), step)}, x.Scope(), into)
		return
	}
	into.merge(r.named(eval.MemoKey{Kind: eval.KindForEach, X: x}, func(in *depSet) { r.expr(x.Expr, x.Scope(), in) }))
}
