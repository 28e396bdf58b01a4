package policies

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/planvalue"
	"deployster/config/results"
	"deployster/config/source"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner/imagestore"
)

// Level is what a result of severity error means for a plan.
type Level string

// The levels.
const (
	Advisory    Level = "advisory"    // it is shown
	Overridable Level = "overridable" // the plan is denied, unless -override names the policy
	Mandatory   Level = "mandatory"   // the plan is denied
)

// Levels lists the levels, from the weakest to the strictest.
func Levels() []string { return []string{string(Advisory), string(Overridable), string(Mandatory)} }

// Policy is a declared policy.
type Policy struct {
	Name     string
	Level    Level
	Type     string // the image, as it is written; "" = it has rules
	Settings instance.TypeSettings
	Config   instance.Resolved // for the image
	Timed    bool              // a rule reads when the plan was made
	Range    diag.Range        // of the block

	rules []decl.Rule
}

// Set is the policies of a root.
type Set struct {
	List     []Policy // sorted by name
	Declared bool     // there are policy blocks, also where List is empty because of errors

	modules *eval.Modules // for the names in their rules
}

// Of returns the policies of the root.
func Of(m *eval.Modules) (s Set, diags hcl.Diagnostics) {
	blocks := m.Tree.Root.Policies
	s = Set{Declared: len(blocks) > 0, modules: m}
	if m.Top == nil {
		return s, nil
	}
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		p, d := declared(m, blocks[name])
		s.List, diags = append(s.List, p), append(diags, d...)
	}
	return s, diags
}

func declared(m *eval.Modules, b *decl.Policy) (Policy, hcl.Diagnostics) {
	p := Policy{Name: b.Name, Range: source.FromHCL(b.At), rules: b.Rules, Config: instance.Resolved{Value: []byte("{}")}}
	for _, r := range b.Rules {
		p.Timed = p.Timed || planvalue.ReadsTime(m.Refs, r.Deny) || planvalue.ReadsTime(m.Refs, r.Message)
	}
	level, diags := m.Optional(b.Attrs["level"], cty.String, "the level of a policy", m.Top.Scope())
	if level != cty.NilVal {
		if p.Level = Level(level.AsString()); !slices.Contains(Levels(), string(p.Level)) {
			diags = append(diags, source.Failure(b.Attrs["level"].Expr.Range(), "Invalid level", "%q is not a level:%s it is one of %s.",
				level.AsString(), words.DidYouMean(level.AsString(), Levels()), strings.Join(Levels(), ", ")))
		}
	}
	if b.Attrs["type"] == nil {
		return p, diags
	}
	diags = append(diags, p.image(m, b)...)
	config, d := results.StaticObject(m, b.Attrs["config"], "the config of a policy", m.Top.Scope())
	p.Config = config
	return p, append(diags, d...)
}

// image reads the type of a policy.
func (p *Policy) image(m *eval.Modules, b *decl.Policy) hcl.Diagnostics {
	attr := b.Attrs["type"]
	typ, diags := m.ShownAt(attr, cty.String, decl.Usage{What: "the type of a policy", Static: true, Types: true}, m.Top.Scope())
	if typ == cty.NilVal {
		return diags
	}
	image, marks := typ.Unmark()
	for mark := range marks {
		if t, ok := mark.(eval.TypeMark); ok {
			p.Settings = t.Mod.Settings[t.Decl]
		}
	}
	p.Type = image.AsString()
	if _, _, err := imagestore.FullName(p.Type); err != nil {
		diags = append(diags, source.Failure(attr.Expr.Range(), "Invalid type", "%s.", err))
	}
	if p.Settings.Host != nil || p.Settings.WholeMachine {
		diags = append(diags, source.Failure(attr.Expr.Range(), "A policy reads the plan alone", "The image of a policy runs on this "+
			"machine and reads nothing but the plan, and this type block has host or whole_machine. Declare a type block without them."))
	}
	return diags
}
