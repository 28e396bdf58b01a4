package schema

import (
	"slices"
	"testing"
)

// A Syntax has the names of its schema and of the schemas inside, no more and no less.
func TestSyntax_IsTheWholeSchema(t *testing.T) {
	t.Parallel()
	depth, seen := 0, 0
	var compare func(where string, level int, got Syntax, want Schema)
	compare = func(where string, level int, got Syntax, want Schema) {
		var names []string
		for _, a := range got.Attributes {
			names = append(names, a.Name)
		}
		for _, b := range got.Blocks {
			names = append(names, b.Block)
		}
		if !slices.Equal(names, want.Names()) {
			t.Errorf("%s: %q, and its schema has %q", where, names, want.Names())
		}
		for i, inner := range want.inner {
			compare(where+"."+got.Blocks[i].Block, level+1, got.Blocks[i], inner)
		}
		depth, seen = max(depth, level), seen+len(names)
	}
	for block, s := range map[string]Schema{"deployster": Deployster, "type": Type, "host": Host, "resource": Resource, "check": Check,
		"policy": Policy, "removed": Removed, "artifact": Artifact, "output": Output} {
		compare(block, 0, s.Syntax(block), s)
	}
	if depth != 2 || seen < 120 {
		t.Errorf("only %d names to a depth of %d were compared", seen, depth)
	}
}

// A host that is a namespace of a cluster needs no address, and any other does.
func TestCluster_NeedsNoAddress(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]Schema{"host": Host, "cluster": Cluster} {
		i := slices.Index(s.Names(), "address")
		if needed := s.Attributes[i].Required; needed != (name == "host") {
			t.Errorf("%s: required = %v", name, needed)
		}
	}
}
