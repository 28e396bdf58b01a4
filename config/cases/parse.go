package cases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/limits"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/values"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
)

// maxCases is the limit on the cases of one file.
const maxCases = 10_000

// caseSchema returns what can stand in a case.
func caseSchema() *hcl.BodySchema {
	return &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "variables"}, {Name: "world"}, {Name: "follows"}, {Name: "expect_errors"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "assert"}},
	}
}

// reader reads one file.
type reader struct {
	file  *File
	dir   string // functions read files relative to it
	scope *hcl.EvalContext
	diags hcl.Diagnostics
}

// Parse reads a file of tests. dir is its directory, and shown its name for people.
func Parse(text []byte, dir, shown string) (*File, diag.Diagnostics) {
	r := &reader{file: &File{Name: shown, text: text}, dir: dir}
	if failed := limits.Guard(r.read); failed != nil {
		return r.file, diag.Diagnostics{failed}
	}
	return r.file, source.NewText(shown, text).Convert(r.diags, nil)
}

func (r *reader) fail(at hcl.Range, summary, detail string, args ...any) {
	r.diags = append(r.diags, source.Failure(at, summary, detail, args...))
}

func (r *reader) read() {
	f := r.file
	if d := limits.Native(f.text, f.Name, false, hcl.InitialPos); d != nil {
		r.diags = append(r.diags, d)
		return
	}
	parsed, diags := hclsyntax.ParseConfig(f.text, f.Name, hcl.InitialPos)
	if diags.HasErrors() {
		r.diags = source.FirstOfEach(diags)
		return
	}
	limits.Metered(parsed.Body.(*hclsyntax.Body))
	set := source.New(source.Sources{Dir: r.dir, Workspace: r.dir}, source.Builtins{})
	r.scope = &hcl.EvalContext{Functions: set.FunctionSet(set.Reads, false)}
	content, diags := parsed.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "case", LabelNames: []string{"name"}}}})
	r.diags = append(r.diags, diags...)
	for _, b := range content.Blocks {
		if len(f.Cases) == maxCases {
			r.diags = append(r.diags, limits.Exceeded(b.DefRange, "cases in one file", maxCases))
			return
		}
		r.oneCase(b)
	}
	r.followed()
}

// followed checks what cases follow.
func (r *reader) followed() {
	var names []string
	for _, c := range r.file.Cases {
		switch {
		case c.Follows == "" || slices.Contains(names, c.Follows):
		case slices.ContainsFunc(r.file.Cases, func(o Case) bool { return o.Name == c.Follows }):
			r.fail(c.follows, "Follows a later case", "%q stands below this case, and a case follows one above it. Exchange them.",
				c.Follows)
		default:
			r.fail(c.follows, "Unknown case", "There is no case %q in this file: %s.%s", c.Follows, words.ThereAre(names),
				words.DidYouMean(c.Follows, names))
		}
		names = append(names, c.Name)
	}
}

func (r *reader) oneCase(b *hcl.Block) {
	c := Case{Name: b.Labels[0], Line: b.DefRange.Start.Line, World: map[string]map[string]Object{}}
	content, diags := b.Body.Content(caseSchema())
	if r.diags = append(r.diags, diags...); diags.HasErrors() {
		return
	}
	if c.Name == "" || c.Name != diag.Visible(c.Name) {
		r.fail(b.LabelRanges[0], "Invalid name", "The name of a case is a text of visible characters that names what is tested.")
	}
	if slices.ContainsFunc(r.file.Cases, func(o Case) bool { return o.Name == c.Name }) {
		r.fail(b.LabelRanges[0], "Two cases of one name", "There is a case %q above. Give this one another name.", c.Name)
	}
	c.Variables = r.variables(content.Attributes["variables"])
	r.world(content.Attributes["world"], c.World)
	c.Errors = r.texts(content.Attributes["expect_errors"])
	if a := content.Attributes["follows"]; a != nil {
		c.follows = a.Expr.Range()
		if list := r.text(a.Expr); list != "" {
			c.Follows = list
		}
	}
	for _, block := range content.Blocks {
		if one, ok := r.assert(block); ok {
			c.asserts = append(c.asserts, one)
		}
	}
	if len(c.asserts) == 0 && len(c.Errors) == 0 && content.Attributes["expect_errors"] == nil {
		r.fail(b.DefRange, "Nothing is tested",
			"A case has assert blocks, or expect_errors: without them it would pass whatever is planned. "+
				"To test only that a plan can be made, write expect_errors = [].")
	}
	r.file.Cases = append(r.file.Cases, c)
}

func (r *reader) assert(b *hcl.Block) (assert, bool) {
	content, diags := b.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "condition", Required: true},
		{Name: "error_message", Required: true}}})
	r.diags = append(r.diags, diags...)
	if diags.HasErrors() {
		return assert{}, false
	}
	return assert{content.Attributes["condition"].Expr, content.Attributes["error_message"].Expr}, true
}

// constant evaluates an expression without references.
func (r *reader) constant(expr hcl.Expression) (cty.Value, bool) {
	if vars := expr.Variables(); len(vars) > 0 {
		r.fail(vars[0].SourceRange(), "Not a constant", "What a case is given is constant: %s cannot be used. Text must stand in quotes.",
			refs.TraversalString(vars[0]))
		return cty.NilVal, false
	}
	v, diags := limits.Evaluate(expr, r.scope)
	r.diags = append(r.diags, diags...)
	return v, !diags.HasErrors()
}

// members returns the members of an object that an expression writes, each with its own expression.
func (r *reader) members(expr hcl.Expression, what string) []hcl.KeyValuePair {
	pairs, diags := hcl.ExprMap(refs.Unparen(expr))
	if diags.HasErrors() {
		r.fail(expr.Range(), "Not an object", "%s is an object that is written here: { NAME = VALUE }.", what)
	}
	return pairs
}

// key returns a key of an object as it is written.
func (r *reader) key(expr hcl.Expression) (string, bool) {
	if word := hcl.ExprAsKeyword(expr); word != "" {
		return word, true
	}
	v, ok := r.constant(expr)
	if !ok || v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
		if ok {
			r.fail(expr.Range(), "Invalid name", "A name here is a word or a text in quotes.")
		}
		return "", false
	}
	plain, _ := v.Unmark()
	return plain.AsString(), true
}

func (r *reader) variables(a *hcl.Attribute) (list []source.VarInput) {
	if a == nil {
		return nil
	}
	for _, pair := range r.members(a.Expr, "variables") {
		name, ok := r.key(pair.Key)
		if !ok {
			continue
		}
		if v, ok := r.constant(pair.Value); ok {
			at := pair.Value.Range()
			list = append(list, source.VarInput{Name: name, Origin: fmt.Sprintf("%s:%d", at.Filename, at.Start.Line), Value: v,
				Strict: true,
				At:     at, Src: r.file.text})
		}
	}
	return list
}

func (r *reader) world(a *hcl.Attribute, into map[string]map[string]Object) {
	if a == nil {
		return
	}
	for _, types := range r.members(a.Expr, "world") {
		name, ok := r.key(types.Key)
		if !ok {
			continue
		}
		objects := map[string]Object{}
		for _, pair := range r.members(types.Value, "Each type of the world") {
			address, ok := r.key(pair.Key)
			if !ok {
				continue
			}
			if v, ok := r.constant(pair.Value); ok {
				objects[address] = r.object(pair.Value.Range(), v)
			}
		}
		into[name] = objects
	}
}

func (r *reader) object(at hcl.Range, v cty.Value) Object {
	v, _ = v.UnmarkDeep()
	if v.IsNull() {
		return Object{At: at}
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		r.fail(at, "Not an object", "An object of the world is { NAME = VALUE }, what its state has in addition to the config, or "+
			"null: it does not exist. This %s.", values.Describe(v))
		return Object{At: at}
	}
	w := values.Writer{}
	if err := w.Value(v); err != nil {
		r.fail(at, "Unusable value", "This value cannot be used: %s.", err)
	}
	return Object{State: slices.Clone(w.Out.Bytes()), At: at}
}

func (r *reader) text(expr hcl.Expression) string {
	v, ok := r.constant(expr)
	if !ok {
		return ""
	}
	if v, _ = v.Unmark(); v.IsNull() || !v.IsKnown() || v.Type() != cty.String || strings.TrimSpace(v.AsString()) == "" {
		r.fail(expr.Range(), "Not a text", "This is a text that is not empty.")
		return ""
	}
	return v.AsString()
}

func (r *reader) texts(a *hcl.Attribute) (list []string) {
	if a == nil {
		return nil
	}
	items, diags := hcl.ExprList(refs.Unparen(a.Expr))
	if diags.HasErrors() {
		r.fail(a.Expr.Range(), "Not a list", "%s is a list of texts, each a part of an error that the plan must have.", a.Name)
	}
	for _, item := range items {
		if text := r.text(item); text != "" {
			list = append(list, text)
		}
	}
	return list
}
