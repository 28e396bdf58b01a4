package validate

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/addresses"
	"deployster/config/decl"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/internal/base/words"
)

// The attributes of an artifact, and of a publish.
var (
	artifactAttrs = []string{"metadata", "name", "space", "spaces", "type", "version"}
	publishAttrs  = []string{"created", "deleted", "metadata", "space", "tree", "version"}
)

// fixedAttr checks which attribute a reference reads, for kinds with fixed attributes.
func fixedAttr(ref refs.Reference, what string, attrs []string) *hcl.Diagnostic {
	t := ref.Traversal
	if len(t) < 3 {
		return nil
	}
	attr := refs.ObjectKey(t[2])
	if slices.Contains(attrs, attr) {
		return nil
	}
	return source.Failure(t.SourceRange(), "Unknown attribute", "%s has the attributes %s, and not %q.%s", what, strings.Join(attrs,
		", "), attr, words.DidYouMean(attr, slices.Clone(attrs)))
}

// publishAttr checks which attribute of a publish a reference reads.
func publishAttr(ref refs.Reference, r *decl.Resource) *hcl.Diagnostic {
	t := ref.Traversal
	if len(t) > 2 && refs.ObjectKey(t[2]) == "tree" && r != nil && r.Attrs["fetch"] == nil {
		return source.Failure(t.SourceRange(), "Nothing is fetched", "The tree of a publish is the hash of the files that it has fetched. "+
			"Write fetch = true into its block.")
	}
	return fixedAttr(ref, "A publish", publishAttrs)
}

// artifacts resolves the artifacts that plugs and publishes refer to, and creates the
// configs of publishes.
func (ck Checker) artifacts(b *decl.Module) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(b.Plugs)) {
		diags = append(diags, ck.plug(b, b.Plugs[name])...)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Resources)) {
		if r := b.Resources[name]; r.Publish != nil && b.Parent == nil {
			diags = append(diags, ck.publish(b, r)...)
		}
	}
	return diags
}

func (ck Checker) plug(b *decl.Module, p *decl.Block) hcl.Diagnostics {
	a := p.Attrs["artifact"]
	if c := p.Attrs["content"]; c != nil && (a != nil || p.Attrs["path"] != nil) {
		return hcl.Diagnostics{source.Failure(c.NameRange, "Content and something else", "A plug with content is one file with that text: "+
			"remove path and artifact, or content.")}
	}
	if a == nil {
		if p.Attrs["path"] != nil || p.Attrs["content"] != nil {
			return nil
		}
		return hcl.Diagnostics{source.Failure(p.At, "A plug of nothing",
			"A plug shows a file or directory of this host, path = \"...\", the files of an artifact, artifact = artifact.NAME, or a "+
				"file with a text, content = \"...\". Add one of them.")}
	}
	of, d := ck.block(b, a.Expr, "artifact", "The artifact of a plug")
	if p.Artifact = of; d != nil {
		return hcl.Diagnostics{d}
	}
	if flag := p.Attrs["read_only"]; flag != nil {
		if v, bad := flag.Expr.Value(nil); !bad.HasErrors() && v.Type() == cty.Bool && v.IsKnown() && !v.IsNull() && v.False() {
			return hcl.Diagnostics{source.Failure(flag.Expr.Range(), "Read-only",
				"The files of an artifact are shared by all that use that version and are read-only. Remove read_only.")}
		}
	}
	return nil
}

// block resolves an expression that must be ROOT.NAME, for an artifact or a plug.
func (ck Checker) block(b *decl.Module, expr hcl.Expression, root, what string) (*decl.Block, *hcl.Diagnostic) {
	ref, ok := ck.Refs.AsReference(expr)
	if !ok || ref.Traversal.RootName() != root || len(ref.Traversal) != 2 || ref.Key != nil {
		return nil, source.Failure(expr.Range(), "Not "+article(root), "%s is named by a reference: %s.NAME. Expressions are not "+
			"allowed here.",
			what, root)
	}
	if d := missing(ref.Traversal, b, decl.Usage{}); d != nil {
		return nil, d
	}
	if root == "plug" {
		return b.Plugs[refs.StepName(ref.Traversal, 1)], nil
	}
	return b.Artifacts[refs.StepName(ref.Traversal, 1)], nil
}

func article(noun string) string {
	if noun == "artifact" {
		return "an artifact"
	}
	return "a " + noun
}

// publish resolves the names in a publish block, and makes a resource of it: its type is
// that of the artifact, and its config holds everything whose change publishes it again.
func (ck Checker) publish(b *decl.Module, r *decl.Resource) hcl.Diagnostics {
	p := r.Publish
	a := r.Attrs["artifact"]
	if a == nil {
		return nil // already reported
	}
	of, d := ck.block(b, a.Expr, "artifact", "The artifact of a publish")
	if d != nil {
		return hcl.Diagnostics{d}
	}
	p.Artifact = of
	inputs, diags := ck.inputs(b, r)
	member := func(name string, a *hcl.Attribute, otherwise cty.Value) refs.Member {
		if a == nil {
			return refs.Member{Name: name, Expr: constant(otherwise, r.At)}
		}
		return refs.Member{Name: name, Expr: a.Expr}
	}
	config := &refs.Object{At: r.At, Members: []refs.Member{
		member("source", of.Attrs["source"], cty.EmptyObjectVal), member("params", r.Attrs["params"], cty.EmptyObjectVal),
		{Name: "inputs", Expr: &refs.Object{At: r.At, Members: inputs}}, member("triggers", r.Attrs["triggers"], cty.EmptyTupleVal),
	}}
	attrs := hcl.Attributes{"config": {Name: "config", Expr: config, Range: r.At, NameRange: r.At}, "idempotent": r.Attrs["idempotent"],
		"fetch":      r.Attrs["fetch"],
		"depends_on": r.Attrs["depends_on"], "type": of.Attrs["type"]}
	maps.DeleteFunc(attrs, func(_ string, a *hcl.Attribute) bool { return a == nil })
	r.Attrs = attrs
	return diags
}

// inputs decodes `inputs = { NAME = plug.NAME, OTHER = artifact.NAME }`.
func (ck Checker) inputs(b *decl.Module, r *decl.Resource) (members []refs.Member, diags hcl.Diagnostics) {
	a := r.Attrs["inputs"]
	if a == nil {
		return nil, nil
	}
	pairs, bad := hcl.ExprMap(refs.Unparen(a.Expr))
	if bad.HasErrors() {
		return nil, hcl.Diagnostics{source.Failure(a.Expr.Range(), "Invalid inputs",
			"Inputs are written as { NAME = artifact.NAME } or { NAME = plug.NAME }.")}
	}
	for _, pair := range pairs {
		key, d := pair.Key.Value(nil)
		if d.HasErrors() || key.Type() != cty.String || !key.IsKnown() || key.IsNull() || !source.IsName(key.AsString()) {
			diags = append(diags, source.Failure(pair.Key.Range(), "Invalid name",
				"The name of an input is that of a directory: it begins with a letter and has letters, digits, _ and - only."))
			continue
		}
		in := decl.PublishInput{Name: key.AsString(), At: pair.Value.Range()}
		root := "artifact"
		if ref, ok := ck.Refs.AsReference(pair.Value); ok && ref.Traversal.RootName() == "plug" {
			root = "plug"
		}
		named, problem := ck.block(b, pair.Value, root, "The input "+in.Name+" of a publish")
		if problem != nil {
			diags = append(diags, problem)
			continue
		}
		if in.Artifact = named; root == "plug" {
			in.Plug, in.Artifact = named, named.Artifact
		}
		r.Publish.Inputs = append(r.Publish.Inputs, in)
		members = append(members, refs.Member{Name: in.Name, Expr: inputValue(in)})
	}
	slices.SortFunc(r.Publish.Inputs, func(a, b decl.PublishInput) int { return strings.Compare(a.Name, b.Name) })
	return members, diags
}

// inputValue is what is compared of an input: a plug by its name, an artifact by all
// that decides what its files are.
func inputValue(in decl.PublishInput) hcl.Expression {
	if in.Artifact == nil {
		return constant(cty.StringVal("plug."+in.Plug.Name), in.At)
	}
	of := func(attr string) refs.Member {
		t := hcl.Traversal{hcl.TraverseRoot{Name: "artifact", SrcRange: in.At}, hcl.TraverseAttr{Name: in.Artifact.Name, SrcRange: in.At},
			hcl.TraverseAttr{Name: attr, SrcRange: in.At}}
		return refs.Member{Name: attr, Expr: &hclsyntax.ScopeTraversalExpr{Traversal: t, SrcRange: in.At}}
	}
	value := &refs.Object{At: in.At, Members: []refs.Member{of("type"), of("space"), of("version")}}
	if a := in.Artifact.Attrs["params"]; a != nil {
		value.Members = append(value.Members, refs.Member{Name: "params", Expr: a.Expr})
	}
	if in.Plug != nil {
		value.Members = append(value.Members, refs.Member{Name: "plug", Expr: constant(cty.StringVal(in.Plug.Name), in.At)})
	}
	return value
}

func constant(v cty.Value, at hcl.Range) hcl.Expression {
	return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: at}
}

// published returns the dependency for publish.NAME in depends_on.
func (ck Checker) published(b *decl.Module, ref refs.Reference, at hcl.Range) (decl.Dependency, *hcl.Diagnostic) {
	if d := missing(ref.Traversal, b, decl.Usage{}); d != nil {
		return decl.Dependency{}, d
	}
	name := addresses.PublishPrefix + refs.StepName(ref.Traversal, 1)
	as := hcl.Traversal{hcl.TraverseRoot{Name: "resource", SrcRange: at}, hcl.TraverseAttr{Name: name, SrcRange: at}}
	return decl.Dependency{Resource: b.Resources[name], Ref: refs.Reference{Traversal: as}, At: at}, nil
}
