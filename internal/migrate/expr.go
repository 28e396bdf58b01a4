package migrate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// emitter writes one block in the new form.
type emitter struct {
	*module
	file      *file
	iterators []string // of the enclosing dynamic blocks
	self      bool     // self refers to a resource
	bare      bool     // references are to resources, not to their states
}

// edit replaces a part of a file.
type edit struct {
	from, to int
	text     string
}

// rewriter collects the edits of an expression.
type rewriter struct {
	*emitter
	edits []edit
	done  map[hclsyntax.Node]bool
}

// expr returns the text of an expression, with its references in the new form.
func (e *emitter) expr(x hclsyntax.Expression) string {
	r := &rewriter{emitter: e, done: map[hclsyntax.Node]bool{}}
	_ = hclsyntax.VisitAll(x, func(n hclsyntax.Node) hcl.Diagnostics { // the function returns no diagnostics
		r.visit(n)
		return nil
	})
	return r.apply(x.Range().Start.Byte, x.Range().End.Byte)
}

// apply returns the text of a part of the file with the edits.
func (r *rewriter) apply(at, end int) string {
	slices.SortStableFunc(r.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	for _, change := range r.edits {
		if change.from < at {
			continue // inside another edit
		}
		b.Write(r.file.text[at:change.from])
		b.WriteString(change.text)
		at = change.to
	}
	b.Write(r.file.text[at:end])
	return b.String()
}

func (r *rewriter) replace(at hcl.Range, text string) {
	r.edits = append(r.edits, edit{at.Start.Byte, at.End.Byte, text})
}

func (r *rewriter) insert(at int, text string) { r.edits = append(r.edits, edit{at, at, text}) }

func (r *rewriter) visit(n hclsyntax.Node) {
	switch x := n.(type) {
	case *hclsyntax.IndexExpr:
		if name, ok := r.counted(x.Collection); ok {
			r.done[x.Collection] = true
			r.replace(x.Collection.Range(), "resource."+name)
			if !r.bare {
				r.insert(x.Range().End.Byte, ".state")
			}
		}
	case *hclsyntax.RelativeTraversalExpr:
		r.output(r.moduleIn(x.Source), x.Traversal)
		if index, ok := x.Source.(*hclsyntax.IndexExpr); ok && r.bare {
			if _, ok := r.counted(index.Collection); ok { // a value of an instance
				r.insert(index.Range().End.Byte, ".state")
			}
		}
	case *hclsyntax.SplatExpr:
		if each, ok := x.Each.(*hclsyntax.RelativeTraversalExpr); ok {
			r.output(r.moduleIn(x.Source), each.Traversal)
		}
		if name, ok := r.counted(x.Source); ok {
			r.done[x.Source] = true
			r.replace(x.Source.Range(), "resource."+name)
			r.insert(x.MarkerRange.End.Byte, ".state")
		}
	case *hclsyntax.FunctionCallExpr:
		if strings.Contains(x.Name, "::") {
			r.refuse(x.Range(), "A function of a provider", "%s is none that there is here.", x.Name)
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
	k, used, ok := keyOfTraversal(t.Traversal)
	b := r.resources[k]
	if !ok || b == nil || used != len(t.Traversal) || !hasInstances(b) {
		return "", false
	}
	return r.names[k], true
}

func hasInstances(b *hclsyntax.Block) bool {
	return b.Body.Attributes["count"] != nil || b.Body.Attributes["for_each"] != nil
}

// keyOfTraversal parses TYPE.NAME or data.TYPE.NAME, and returns how many steps that takes.
func keyOfTraversal(t hcl.Traversal) (k resourceKey, used int, ok bool) {
	if k.data = t.RootName() == "data"; k.data {
		used = 1
	}
	if len(t) < used+2 {
		return k, 0, false
	}
	if k.data {
		kind, is := t[1].(hcl.TraverseAttr)
		if !is {
			return k, 0, false
		}
		k.kind = kind.Name
	} else {
		k.kind = t.RootName()
	}
	name, is := t[used+1].(hcl.TraverseAttr)
	k.name = name.Name
	return k, used + 2, is
}

// cut returns the range of the first steps of a traversal.
func cut(t hcl.Traversal, steps int) hcl.Range {
	return hcl.RangeBetween(t[0].SourceRange(), t[steps-1].SourceRange())
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
	case slices.Contains(r.iterators, root) && (second == "value" || second == "key"):
		r.replace(cut(t, 2), root+"_"+second)
	case root == "self" && r.self && !t.IsRelative():
		r.replace(cut(t, 1), "self.state")
	case root == "var" && r.variable(second) != second:
		r.replace(cut(t, 2), "var."+r.variable(second))
	case root == "module":
		r.moduleNames(t)
	case root == "path" && (second == "module" || second == "root"):
		at := r.out
		if second == "root" {
			at = "."
		}
		r.literal(cut(t, 2), at)
	case root == "terraform" && second == "workspace":
		r.replace(cut(t, 2), "var."+workspaceName)
		if r.out == "." {
			r.note(x.Range(), "terraform.workspace is the variable %s now, %q by default: each workspace has a directory or a state of its own",
				workspaceName, r.workspace)
		}
	default:
		r.resource(x, t)
	}
}

// literal replaces a reference by a text, also inside a template.
func (r *rewriter) literal(at hcl.Range, text string) {
	before, after := string(r.file.text[:at.Start.Byte]), string(r.file.text[at.End.Byte:])
	if strings.HasSuffix(before, "${") && strings.HasPrefix(after, "}") && !strings.HasSuffix(before, "$${") {
		at.Start.Byte -= 2
		at.End.Byte++
		r.replace(at, text)
		return
	}
	r.replace(at, strconv.Quote(text))
}

func (r *rewriter) resource(x *hclsyntax.ScopeTraversalExpr, t hcl.Traversal) {
	k, used, ok := keyOfTraversal(t)
	b := r.resources[k]
	if !ok || b == nil {
		return
	}
	name := "resource." + r.names[k]
	switch {
	case r.bare && len(t) == used:
		r.replace(cut(t, used), name)
	case !hasInstances(b):
		r.replace(cut(t, used), name+".state")
	case len(t) > used:
		if _, index := t[used].(hcl.TraverseIndex); !index {
			r.refuse(x.Range(), "A reference without an instance", "%s has several instances, of which none is named.", k)
			return
		}
		r.replace(cut(t, used), name)
		if !r.bare || len(t) > used+1 {
			r.insert(cut(t, used+1).End.Byte, ".state")
		}
	case b.Body.Attributes["count"] != nil:
		r.replace(cut(t, used), name+"[*].state")
	default:
		r.replace(cut(t, used), "{ for k, r in "+name+" : k => r.state }")
	}
}

// addressOf parses module.A["k"].TYPE.NAME["k"]: the modules, in the form of the
// manifests, the resource, and its instance key.
func addressOf(x hcl.Expression) (modules []string, k resourceKey, key string, ok bool) {
	t, diags := hcl.AbsTraversalForExpr(x)
	if diags.HasErrors() {
		return nil, k, "", false
	}
	for len(t) >= 2 && stepName(t[0]) == "module" {
		step := "module." + stepName(t[1])
		if t = t[2:]; len(t) > 0 {
			if i, is := t[0].(hcl.TraverseIndex); is {
				step, t = step+indexText(i), t[1:]
			}
		}
		modules = append(modules, step)
	}
	if len(t) == 0 {
		return modules, k, "", len(modules) > 0
	}
	if stepName(t[0]) == "data" || len(t) < 2 || len(t) > 3 {
		return nil, k, "", false
	}
	k.kind, k.name = stepName(t[0]), stepName(t[1])
	if len(t) == 3 {
		i, is := t[2].(hcl.TraverseIndex)
		if !is {
			return nil, k, "", false
		}
		key = indexText(i)
	}
	return modules, k, key, true
}

func stepName(t hcl.Traverser) string {
	switch s := t.(type) {
	case hcl.TraverseRoot:
		return s.Name
	case hcl.TraverseAttr:
		return s.Name
	}
	return ""
}

func indexText(i hcl.TraverseIndex) string {
	if i.Key.Type().FriendlyName() == "number" {
		return "[" + i.Key.AsBigFloat().Text('f', 0) + "]"
	}
	return "[" + strconv.Quote(i.Key.AsString()) + "]"
}
