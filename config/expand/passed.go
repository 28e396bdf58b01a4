package expand

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/source"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/base/words"
)

// passing is what decides whether versions of artifacts can pass what their blocks name.
type passing struct {
	resources []*instance.Resource
	modules   *eval.Modules
}

// check returns an error for each artifact whose versions could never pass.
func (p passing) check() (diags hcl.Diagnostics) {
	for _, a := range p.modules.Artifacts {
		if a.Passed == nil {
			continue
		}
		block := p.modules.Top.Decl.Artifacts[a.Name]
		for _, t := range block.Passed {
			if d := p.passes(a, t); d != nil {
				diags = append(diags, d)
			}
		}
		if !p.modules.Tree.Vars.HasUnset && !slices.ContainsFunc(p.modules.Artifacts, func(other instance.Artifact) bool {
			return other.Name != a.Name && sameSource(a, other)
		}) {
			diags = append(diags, source.Failure(block.Attrs["passed"].Expr.Range(), "Nothing passes",
				"artifact.%s takes versions that other resources were made with, so there must be another artifact block of the same "+
					"type and source, which these resources use. Declare it, without this resource in its passed.", a.Name))
		}
	}
	return diags
}

// passes returns what is wrong with a resource that an artifact names; nil = nothing.
func (p passing) passes(a instance.Artifact, t decl.Target) *hcl.Diagnostic {
	var all []string
	known := false
	for _, r := range p.resources {
		all, known = append(all, r.Address), known || of(t.Address, r.Address)
	}
	for _, open := range p.modules.Pending {
		if of(t.Address, open.Address) || of(open.Address, t.Address) {
			return source.Failure(t.At, "Known too late", "artifact.%s needs to know the instances of %s before its version is chosen, "+
				"and they follow from an artifact, a host or the state of a resource. Name a resource whose instances follow from "+
				"variables and constants.", a.Name, t.Address)
		}
	}
	switch {
	case !known && p.modules.Top.Decl.Resources[t.Address] == nil: // else it has no instance now
		return source.Failure(t.At, "Undeclared resource", "Versions of artifact.%s have to pass %s, which is not declared.%s", a.Name,
			t.Address, words.DidYouMean(t.Address, all))
	case p.needs(t.Address, a.Name, map[string]bool{}):
		return source.Failure(t.At, "An artifact waits for itself", "%s uses artifact.%s, itself or by another artifact with passed, "+
			"so that no version would ever pass. Use the artifact there whose versions are to be tried.", t.Address, a.Name)
	}
	return nil
}

// needs reports whether the instances of a resource use an artifact, or one whose versions have to pass what uses it.
func (p passing) needs(addr, artifact string, seen map[string]bool) bool {
	for _, r := range p.resources {
		if !of(addr, r.Address) || seen[r.Address] {
			continue
		}
		seen[r.Address] = true
		for _, used := range r.Artifacts {
			if used == artifact {
				return true
			}
			i := slices.IndexFunc(p.modules.Artifacts, func(a instance.Artifact) bool { return a.Name == used })
			if i >= 0 && slices.ContainsFunc(p.modules.Artifacts[i].Passed, func(by string) bool { return p.needs(by, artifact, seen) }) {
				return true
			}
		}
	}
	return false
}

// of reports whether an address is the other, or an instance of it.
func of(block, addr string) bool { return addr == block || strings.HasPrefix(addr, block+"[") }

// sameSource reports whether two artifacts have the same versions.
func sameSource(a, b instance.Artifact) bool {
	return a.TypeRef == b.TypeRef &&
		jsondoc.Same(secret.Mask(a.Source.Value, a.Source.Sensitive), secret.Mask(b.Source.Value, b.Source.Sensitive))
}
