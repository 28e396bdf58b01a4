package trace

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
)

// Input is a value from which a value of a config is computed.
type Input struct {
	Depth int    // 0: the value itself; otherwise the number of references to it
	What  string // as in the manifest: var.size, local.zone, resource.disk.state.id, each.value
	Value string // for a person, without sensitive parts; "" = it could not be evaluated

	Range *diag.Range // its place; nil = not in a manifest
	Line  string      // the first line of that place

	// Given is the source of a root variable's value, "" for other inputs.
	Given string
}

// The limits on the inputs of one value.
const (
	maxInputs     = 60
	maxInputValue = 300 // bytes
	maxInputDepth = 8
)

// Inputs traces the value at a JSON pointer of a resource's config.
func Inputs(e *eval.Evaluator, i *instance.Instance, pointer string) []Input {
	a := i.Decl.Attrs["config"]
	if a == nil {
		return nil
	}
	t := &tracer{e: e, seen: map[string]bool{}}
	expr, at := a.Expr, i.Scope()
	for _, step := range jsondoc.Pointer(pointer) {
		next := refs.Child(expr, step)
		if next == nil {
			break
		}
		expr = next
	}
	t.add(Input{What: "config"}, expr, at)
	t.follow(expr, at, 1)
	return t.found
}

// tracer follows the references of an expression.
type tracer struct {
	e     *eval.Evaluator
	seen  map[string]bool
	found []Input
}

// add appends an input with its place; expr may be nil.
func (t *tracer) add(in Input, expr hcl.Expression, at instance.Scope) {
	if len(t.found) >= maxInputs {
		return
	}
	if expr != nil {
		place := source.FromHCL(expr.Range())
		in.Range, in.Line = &place, t.line(expr.Range())
		if in.Value == "" {
			in.Value = t.value(expr, at)
		}
	}
	t.found = append(t.found, in)
}

// line returns the first line of a place, without its indentation.
func (t *tracer) line(r hcl.Range) string {
	src, ok := t.e.M.Set.BytesOf(r.Filename)
	if !ok || r.Start.Byte > len(src) {
		return ""
	}
	from := strings.LastIndexByte(string(src[:r.Start.Byte]), '\n') + 1
	line, _, _ := strings.Cut(string(src[from:min(len(src), from+maxInputValue)]), "\n")
	return strings.TrimSpace(line)
}

// value returns the value of an expression with the known states, on one line.
func (t *tracer) value(expr hcl.Expression, at instance.Scope) string {
	v, diags := t.e.Value(expr, at)
	if diags.HasErrors() {
		return ""
	}
	text := values.InLine(values.Display(v))
	if len(text) > maxInputValue {
		text = strings.ToValidUTF8(text[:maxInputValue], "") + "..."
	}
	return text
}

// follow adds the inputs of an expression, and their inputs.
func (t *tracer) follow(expr hcl.Expression, at instance.Scope, depth int) {
	if depth > maxInputDepth {
		return
	}
	for _, ref := range t.e.M.Refs.References(expr) {
		t.reference(ref, at, depth)
	}
}

func (t *tracer) reference(ref refs.Reference, at instance.Scope, depth int) {
	what := refs.TraversalString(ref.Traversal)
	if key := what + "\x00" + at.String(); t.seen[key] {
		return
	} else {
		t.seen[key] = true
	}
	in := Input{Depth: depth, What: what}
	in.Value = t.value(&hclsyntax.ScopeTraversalExpr{Traversal: ref.Traversal, SrcRange: ref.Traversal.SourceRange()}, at)
	next, nextAt, _ := Hop(t.e, ref, at)
	switch root := ref.Traversal.RootName(); {
	case next != nil:
		t.add(in, next, nextAt)
		t.follow(next, nextAt, depth+1)
	case root == "var" && at.Mod.Caller == nil:
		t.variable(in, at.Mod.Decl.Variables[refs.StepName(ref.Traversal, 1)])
	case root == "each" || root == "count":
		if x := at.At.Of; x != nil && x.Expr != nil {
			t.add(in, x.Expr, x.Scope())
			t.follow(x.Expr, x.Scope(), depth+1)
		}
	case root == "resource" || root == "dep":
		t.state(in, ref, at)
	case root == "artifact" && at.Mod.Decl.Artifacts[refs.StepName(ref.Traversal, 1)] != nil:
		place := source.FromHCL(at.Mod.Decl.Artifacts[refs.StepName(ref.Traversal, 1)].At)
		in.Range = &place
		t.add(in, nil, at)
	case root == "host" && at.Mod.Decl.Hosts[refs.StepName(ref.Traversal, 1)] != nil:
		place := source.FromHCL(at.Mod.Decl.Hosts[refs.StepName(ref.Traversal, 1)].At)
		in.Range = &place
		t.add(in, nil, at)
	case root == "remote_state" && at.Mod.Decl.RemoteStates[refs.StepName(ref.Traversal, 1)] != nil:
		place := source.FromHCL(at.Mod.Decl.RemoteStates[refs.StepName(ref.Traversal, 1)].At)
		in.Range = &place
		t.add(in, nil, at)
	case root == "publish" || root == "path" || root == "deployster" || root == "plug" || root == "type":
		t.add(in, nil, at)
	}
}

// variable adds a variable of the root manifest, with the source of its value.
func (t *tracer) variable(in Input, v *decl.Variable) {
	if v == nil {
		return
	}
	place := source.FromHCL(v.At)
	in.Range, in.Line = &place, t.line(v.At)
	if in.Given = t.e.M.Tree.Vars.Origins[v.Name]; in.Given == "" {
		in.Given = "its default"
	}
	t.add(in, nil, instance.Scope{})
}

// state adds the state of another resource.
func (t *tracer) state(in Input, ref refs.Reference, at instance.Scope) {
	i, _ := InstanceOf(t.e, ref, at)
	if i == nil {
		t.add(in, nil, at) // the reference reads several
		return
	}
	place := i.Range
	in.Range = &place
	t.add(in, nil, at)
}

// Locate returns the place of the value at a JSON pointer of a resource's config, or of its key.
func Locate(e *eval.Evaluator, i *instance.Instance, pointer string, key bool) *diag.Range {
	place := source.FromHCL(i.Decl.At)
	a := i.Decl.Attrs["config"]
	if a == nil {
		return &place
	}
	expr, at := a.Expr, i.Scope()
	steps := jsondoc.Pointer(pointer)
	for hops := 0; hops < eval.MaxChain; hops++ {
		expr = refs.Unparen(expr)
		if len(steps) > 0 {
			if name, _ := refs.Pair(expr, steps[0]); key && len(steps) == 1 && name != nil {
				expr = name
				break
			}
			if next := refs.Child(expr, steps[0]); next != nil {
				expr, steps = next, steps[1:]
				continue
			}
		}
		next, nextAt, ok := Follow(e, expr, at)
		if !ok || len(steps) == 0 {
			break
		}
		expr, at = next, nextAt
	}
	place = source.FromHCL(expr.Range())
	return &place
}
