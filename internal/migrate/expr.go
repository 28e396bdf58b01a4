package migrate

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/internal/migrate/edits"
	"deployster/internal/migrate/tfrefs"
)

// emitter writes one block in the new form.
type emitter struct {
	*findings
	module    *module
	file      *file
	iterators []string // of the enclosing dynamic blocks
	self      bool     // self refers to a resource
	bare      bool     // references are to resources, not to their states
}

// rewriter collects the edits of an expression.
type rewriter struct {
	e     *emitter
	edits edits.List
	done  map[hclsyntax.Node]bool
}

// expr returns the text of an expression, with its references in the new form.
func (e *emitter) expr(x hclsyntax.Expression) string {
	r := &rewriter{e: e, edits: edits.Of(e.file.text), done: map[hclsyntax.Node]bool{}}
	_ = hclsyntax.VisitAll(x, func(n hclsyntax.Node) hcl.Diagnostics { // the function returns no diagnostics
		r.visit(n)
		return nil
	})
	return r.edits.Apply(x.Range().Start.Byte, x.Range().End.Byte)
}

func (r *rewriter) visit(n hclsyntax.Node) {
	switch x := n.(type) {
	case *hclsyntax.IndexExpr:
		if name, ok := r.counted(x.Collection); ok {
			r.done[x.Collection] = true
			r.edits.Replace(x.Collection.Range(), "resource."+name)
			if !r.e.bare {
				r.edits.Insert(x.Range().End.Byte, ".state")
			}
		}
	case *hclsyntax.RelativeTraversalExpr:
		r.output(r.e.module.moduleIn(x.Source), x.Traversal)
		if index, ok := x.Source.(*hclsyntax.IndexExpr); ok && r.e.bare {
			if _, ok := r.counted(index.Collection); ok { // a value of an instance
				r.edits.Insert(index.Range().End.Byte, ".state")
			}
		}
	case *hclsyntax.SplatExpr:
		if each, ok := x.Each.(*hclsyntax.RelativeTraversalExpr); ok {
			r.output(r.e.module.moduleIn(x.Source), each.Traversal)
		}
		if name, ok := r.counted(x.Source); ok {
			r.done[x.Source] = true
			r.edits.Replace(x.Source.Range(), "resource."+name)
			r.edits.Insert(x.MarkerRange.End.Byte, ".state")
		}
	case *hclsyntax.FunctionCallExpr:
		if strings.Contains(x.Name, "::") {
			r.e.refuse(x.Range(), "A function of a provider", "%s does not exist here.", x.Name)
		}
	case *hclsyntax.ScopeTraversalExpr:
		if !r.done[n] {
			r.traversal(x)
		}
	}
}

// counted returns the new name of a resource with instances, if the expression is exactly a reference to it.
func (r *rewriter) counted(x hclsyntax.Expression) (name string, ok bool) {
	t, is := x.(*hclsyntax.ScopeTraversalExpr)
	if !is {
		return "", false
	}
	k, used, ok := tfrefs.Resource(t.Traversal)
	b := r.e.module.resources[k]
	if !ok || b == nil || used != len(t.Traversal) || !tfrefs.HasInstances(b) {
		return "", false
	}
	return r.e.module.names[k], true
}

func (r *rewriter) traversal(x *hclsyntax.ScopeTraversalExpr) {
	t := x.Traversal
	second := ""
	if len(t) > 1 {
		if attr, ok := t[1].(hcl.TraverseAttr); ok {
			second = attr.Name
		}
	}
	switch root := t.RootName(); {
	case slices.Contains(r.e.iterators, root) && (second == "value" || second == "key"):
		r.edits.Replace(tfrefs.Range(t, 2), root+"_"+second)
	case root == "self" && r.e.self && !t.IsRelative():
		r.edits.Replace(tfrefs.Range(t, 1), "self.state")
	case root == "var" && r.e.module.variable(second) != second:
		r.edits.Replace(tfrefs.Range(t, 2), "var."+r.e.module.variable(second))
	case root == "module":
		r.moduleNames(t)
	case root == "path" && (second == "module" || second == "root"):
		at := r.e.module.out
		if second == "root" {
			at = "."
		}
		r.edits.Literal(tfrefs.Range(t, 2), at)
	case root == "terraform" && second == "workspace":
		r.edits.Replace(tfrefs.Range(t, 2), "var."+workspaceName)
		if r.e.module.out == "." {
			r.e.note(x.Range(), "terraform.workspace is the variable %s now, %q by default: each workspace has a directory or a state of "+
				"its own",
				workspaceName, r.e.module.run.workspace)
		}
	default:
		r.resource(x, t)
	}
}

func (r *rewriter) resource(x *hclsyntax.ScopeTraversalExpr, t hcl.Traversal) {
	k, used, ok := tfrefs.Resource(t)
	if ok && tfrefs.IsRemote(k) {
		r.edits.Replace(tfrefs.Range(t, used), "remote_state."+tfrefs.Clean(k.Name))
		return
	}
	b := r.e.module.resources[k]
	if !ok || b == nil {
		return
	}
	name := "resource." + r.e.module.names[k]
	switch {
	case r.e.bare && len(t) == used:
		r.edits.Replace(tfrefs.Range(t, used), name)
	case !tfrefs.HasInstances(b):
		r.edits.Replace(tfrefs.Range(t, used), name+".state")
	case len(t) > used:
		if _, index := t[used].(hcl.TraverseIndex); !index {
			r.e.refuse(x.Range(), "A reference without an instance", "%s has several instances, of which none is named.", k)
			return
		}
		r.edits.Replace(tfrefs.Range(t, used), name)
		if !r.e.bare || len(t) > used+1 {
			r.edits.Insert(tfrefs.Range(t, used+1).End.Byte, ".state")
		}
	case b.Body.Attributes["count"] != nil:
		r.edits.Replace(tfrefs.Range(t, used), name+"[*].state")
	default:
		r.edits.Replace(tfrefs.Range(t, used), "{ for k, r in "+name+" : k => r.state }")
	}
}
