package results

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/refs"
	"deployster/config/source"
	"deployster/config/trace"
	"deployster/config/values"
	"deployster/internal/runtime/runner"
)

// HostAt returns the host that an attribute selects, nil for none. Only which host it
// is must be known.
func HostAt(m *eval.Modules, a *hcl.Attribute, what string, at instance.Scope) (*runner.Host, hcl.Diagnostics) {
	if a == nil {
		return nil, nil
	}
	p := decl.Usage{What: what, Static: true, Hosts: true, Late: true}
	if at.Res != nil {
		p.Repeated = &at.Res.Decl.Block
	}
	if diags := m.Checker.CheckRefs(a.Expr, p, at.Mod.Decl); diags.HasErrors() {
		return nil, diags
	}
	e := m.Evaluator(nil)
	v, diags := e.Value(a.Expr, at)
	if diags.HasErrors() {
		return nil, diags
	}
	v, marks := v.Unmark()
	name, found := cty.NilVal, false
	if v.IsKnown() && !v.IsNull() {
		name, found = values.Part(v, "name")
	}
	hidden := marks.Has(values.Sensitive{}) || found && name.HasMark(values.Sensitive{})
	if found {
		name, _ = name.Unmark()
	}
	switch {
	case hidden:
		return nil, append(diags, source.Failure(a.Expr.Range(), "A sensitive value would be printed",
			"%s cannot be sensitive, because it is shown in plans and messages.", values.Capital(what)))
	case v.IsNull():
		return nil, diags
	case !v.IsKnown(), found && !name.IsKnown():
		open := trace.UnknownRefs(e, a.Expr, at)
		if len(open) == 0 || m.Tree.Vars.HasUnset || m.Hosts.Invalid() { // reported elsewhere, now or later
			return nil, diags
		}
		return nil, append(diags, source.Failure(a.Expr.Range(), "Known too late", "This host depends on %s, and %s must be known "+
			"before any state is read. Use variables and constants to choose it.", strings.Join(open, ", "), what))
	case !found || name.IsNull() || name.Type() != cty.String:
		return nil, append(diags, noHost(m, a, what, v))
	}
	host := m.Hosts.Named[name.AsString()]
	if host == nil {
		return nil, append(diags, noHost(m, a, what, v))
	}
	return &host.Host, diags
}

// noHost returns the error for a value that is not a declared host.
func noHost(m *eval.Modules, a *hcl.Attribute, what string, v cty.Value) *hcl.Diagnostic {
	if ref, ok := m.Refs.AsReference(a.Expr); ok && ref.Traversal.RootName() == "host" && len(ref.Traversal) == 2 && ref.Key == nil {
		short := refs.TraversalString(ref.Traversal)
		return source.Failure(a.Expr.Range(), "One of several", "%s is one host, and %s has instances: write %s[each.key] or "+
			"%s[count.index], or choose one by its key.", values.Capital(what), short, short, short)
	}
	return source.Failure(a.Expr.Range(), "Not a host", "%s is a declared host, host.NAME or host.NAME[\"KEY\"], and this %s.",
		values.Capital(what), values.Describe(v))
}
