package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/limits"
	"deployster/config/planvalue"
	"deployster/config/policies"
	"deployster/internal/base/diag"
)

// Policies, and the plan as they see it.
type (
	Policy        = policies.Policy
	PolicyLevel   = policies.Level
	PolicyFinding = policies.Finding
	PlanValue     = planvalue.Plan
)

// The levels of policies.
const (
	Advisory    = policies.Advisory
	Overridable = policies.Overridable
	Mandatory   = policies.Mandatory
)

// NewPlanValue returns the plan that expressions read as plan: from its JSON without sensitive values.
func NewPlanValue(document []byte) (PlanValue, error) { return planvalue.Of(document) }

// Policies are the declared policies of a manifest.
type Policies struct{ of *Manifest }

// Policies returns the declared policies.
func (m *Manifest) Policies() Policies { return Policies{m} }

// List returns the policies, sorted by name.
func (p Policies) List() []Policy {
	list, _ := policies.Declared(p.of.instances.Modules) // their errors were reported when the manifest was loaded
	return list
}

// Judge evaluates the rules of one of the policies against a plan.
func (p Policies) Judge(one Policy, plan PlanValue) (list []PolicyFinding, diags diag.Diagnostics) {
	var found hcl.Diagnostics
	modules := p.of.instances.Modules
	if failed := limits.Guard(func() { list, found = one.Judge(modules.Evaluator(nil), plan) }); failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return list, modules.Convert(found)
}

// Alone returns an error for each block of the manifest other than policies, types, variables and local values.
func (p Policies) Alone() (diags diag.Diagnostics) {
	m := p.of
	refuse := func(what string, at *diag.Range) {
		diags = append(diags, m.Diagnose(diag.Errorf("Not a policy", "%s", fmt.Sprintf("A file of policies has policy blocks, and the "+
			"types, variables with defaults and local values that they use. %s cannot stand in it.", what)), at))
	}
	for _, r := range m.Resources() {
		refuse("The resource "+r.Address, &r.Range)
	}
	root := m.tree.Root
	for name := range root.Calls {
		refuse("The module "+name, nil)
	}
	if s := m.Settings(); s.StateAt != nil || s.Encryption != nil {
		refuse("A deployster block", s.StateAt)
	}
	return diags
}

// Declared reports whether the manifest has policy blocks, also one with errors.
func (p Policies) Declared() bool { return len(p.of.tree.Root.Policies) > 0 }
