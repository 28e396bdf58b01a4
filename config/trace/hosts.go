package trace

import (
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/refs"
)

// HostsOf returns the hosts that a reference reads.
func HostsOf(e *eval.Evaluator, ref refs.Reference, at instance.Scope) (list []*instance.Host) {
	c := e.Choose("host", refs.StepName(ref.Traversal, 1), []refs.Reference{ref}, at)
	if set := e.M.Hosts.Set(refs.StepName(ref.Traversal, 1), at.Mod); set != nil && c.Of != nil && !c.Of.Pending {
		c.Each(func(i int) { list = append(list, &set.List[i]) })
	}
	return list
}

// LackedFacts returns the names of the hosts with unknown facts that a reference
// reads, and the parts that it reads, as a manifest would write them.
func LackedFacts(e *eval.Evaluator, ref refs.Reference, at instance.Scope) (names, reads []string) {
	c := e.Choose("host", refs.StepName(ref.Traversal, 1), []refs.Reference{ref}, at)
	if c.Of == nil {
		return nil, nil
	}
	block := refs.TraversalString(ref.Traversal[:2])
	if c.Of.Pending {
		return nil, []string{block}
	}
	set := e.M.Hosts.Set(refs.StepName(ref.Traversal, 1), at.Mod)
	each, diags := eval.HostValues(e, set)
	if diags.HasErrors() {
		return nil, nil // reported where it is evaluated
	}
	lacks := func(i int, attr string, w eval.Want) bool {
		return (len(w.Steps) == 0 || refs.ObjectKey(w.Steps[0]) == attr) && !each[i].GetAttr(attr).IsKnown()
	}
	c.Each(func(i int) {
		for _, w := range c.WantsOf(i) {
			switch facts := lacks(i, "facts", w); {
			case facts:
				names = append(names, set.List[i].Name)
			case !lacks(i, "address", w):
				continue
			}
			switch {
			case c.All:
				reads = []string{block}
			case len(w.Steps) == 0:
				reads = append(reads, "host."+set.List[i].Name+".facts")
			default:
				reads = append(reads, "host."+set.List[i].Name+refs.TraversalString(w.Steps))
			}
		}
	})
	return names, reads
}
