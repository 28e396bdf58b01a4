package validate

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/internal/base/words"
)

// The attributes of a host, and of its facts.
var (
	hostAttrs = []string{"address", "facts", "name"}
	factAttrs = []string{"arch", "cpus", "hostname", "kernel", "machine", "memory", "os", "os_version"}
)

// hostAttr checks which attribute of a host a reference reads: host.NAME.HERE.
func hostAttr(ref refs.Reference, b *decl.Block) *hcl.Diagnostic {
	short, at := refs.TraversalString(ref.Traversal[:2]), ref.Traversal.SourceRange()
	steps, keyed := behindKey(ref, b)
	switch {
	case ref.Splat && !b.Repeats():
		return nil // HCL treats it as a list of one
	case !keyed && b.Repeats() && len(steps) > 0:
		return source.Failure(at, "One of several", "%s has instances, because of its %s: write %s; values(%s) for all of them.", short,
			repetitionWord(b), example(short, b), short)
	case len(steps) == 0:
		return nil
	}
	if _, index := steps[0].(hcl.TraverseIndex); index && !keyed || keyed && !b.Repeats() {
		return source.Failure(at, "No instances", "%s has no for_each and no count, so that it has no instances to choose from: write %s "+
			"alone.",
			short, short)
	}
	if d := oneAttr(at, "A host", hostAttrs, refs.ObjectKey(steps[0])); d != nil {
		return d
	}
	if refs.ObjectKey(steps[0]) == "facts" && len(steps) > 1 {
		return oneAttr(at, "What is known of a host", factAttrs, refs.ObjectKey(steps[1]))
	}
	return nil
}

// oneAttr returns an error if an attribute is not one of attrs.
func oneAttr(at hcl.Range, what string, attrs []string, attr string) *hcl.Diagnostic {
	if slices.Contains(attrs, attr) {
		return nil
	}
	return source.Failure(at, "Unknown attribute", "%s has the attributes %s, and not %q.%s", what, strings.Join(attrs, ", "), attr,
		words.DidYouMean(attr, slices.Clone(attrs)))
}
