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

// Policies returns the declared policies, sorted by name.
func (m *Manifest) Policies() []Policy {
	list, _ := policies.Declared(m.instances.Modules) // their errors were reported when the manifest was loaded
	return list
}

// Judge evaluates the rules of a policy of this manifest against a plan.
func Judge(m *Manifest, p Policy, plan PlanValue) (list []PolicyFinding, diags diag.Diagnostics) {
	var found hcl.Diagnostics
	modules := m.instances.Modules
	if failed := limits.Guard(func() { list, found = p.Judge(modules.Evaluator(nil), plan) }); failed != nil {
		return nil, diag.Diagnostics{failed}
	}
	return list, modules.Convert(found)
}

// OnlyPolicies returns an error for each block of a manifest other than policies, types, variables and local values.
func OnlyPolicies(m *Manifest) (diags diag.Diagnostics) {
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

// DeclaresPolicies reports whether a manifest has policy blocks, also one with errors.
func DeclaresPolicies(m *Manifest) bool { return len(m.tree.Root.Policies) > 0 }
