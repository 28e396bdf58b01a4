package config

import (
	"deployster/config/planvalue"
	"deployster/config/policies"
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
type Policies = policies.Set

// Policies returns the declared policies.
func (m *Manifest) Policies() Policies {
	declared, _ := policies.Of(m.instances.Modules) // their errors were reported when the manifest was loaded
	return declared
}
