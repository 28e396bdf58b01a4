package order

import (
	"maps"
	"slices"
	"strings"

	"deployster/plan/match"
)

// Barriers returns the nodes that an ordering adds to a graph, without those that nothing
// waits for and after which nothing is queried. again lists, by class, the resources that
// are queried after the ends of the class. doubtful reports whether the failed end of
// another resource may affect a node: then the node waits for ends that succeed.
func Barriers(o match.Ordering, again map[string][]string, doubtful func(node string) bool) []Barrier {
	var list []Barrier
	waits := o.Before.Reverse()
	for _, class := range slices.Sorted(maps.Keys(o.Barriers)) {
		for i, name := range o.Barriers[class] {
			b := Barrier{Name: name, After: o.Before[name], Before: waits[name], OrderOnly: true}
			if i == len(o.Barriers[class])-1 {
				b.Again = again[class]
			}
			if len(b.Before)+len(b.Again) > 0 {
				list = append(list, b)
			}
			if held := slices.DeleteFunc(slices.Clone(b.Before), func(node string) bool { return !doubtful(node) }); len(held) > 0 {
				list = append(list, Barrier{Name: strings.Replace(name, "barrier", "doubt", 1), After: b.After, Before: held})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Known)) {
		if len(waits[name]) > 0 {
			list = append(list, Barrier{Name: name, After: o.Before[name], Before: waits[name], Late: o.Known[name]})
		}
	}
	return list
}
