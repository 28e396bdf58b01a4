package verdict

import (
	"fmt"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/answers"
	"deployster/state/actions"
)

// Result is one result of a policy.
type Result = answers.PolicyResult

// The severities of a result.
const (
	Error   = answers.Failed
	Warning = answers.Warned
)

// Policy is what one policy found about a plan.
type Policy struct {
	Name     string             `json:"name"`
	Level    config.PolicyLevel `json:"level"`
	Required bool               `json:"required,omitempty"` // by the environment, and not by the manifests
	Image    string             `json:"image,omitempty"`    // as the block names it; absent = it has rules
	Digest   string             `json:"digest,omitempty"`   // of the image
	Timed    bool               `json:"timed,omitempty"`    // a rule reads when the plan was made
	Denies   bool               `json:"denies,omitempty"`   // the plan cannot be applied
	Results  []Result           `json:"results,omitempty"`
	Override *actions.Override  `json:"override,omitempty"` // who lets the plan be applied all the same, and why
}

// Failed reports whether a result is an error.
func (p Policy) Failed() bool {
	return slices.ContainsFunc(p.Results, func(r Result) bool { return r.Severity == Error })
}

// Decided returns the policy with what its results mean.
func (p Policy) Decided() Policy {
	p.Denies = p.denies()
	return p
}

// denies reports whether the results deny the plan. A mandatory policy cannot be overridden, whatever is in a file.
func (p Policy) denies() bool {
	return p.Failed() && (p.Level == config.Mandatory || p.Level == config.Overridable && p.Override == nil)
}

// Denied returns the policies that deny a plan.
func Denied(list []Policy) (denied []Policy) {
	for _, p := range list {
		if p.denies() {
			denied = append(denied, p)
		}
	}
	return denied
}

// Overrides returns the overrides among policies.
func Overrides(list []Policy) (all []actions.Override) {
	for _, p := range list {
		if p.Override != nil {
			all = append(all, *p.Override)
		}
	}
	return all
}

// Refuse returns the error about a plan that policies deny; nil = none does.
func Refuse(list []Policy) error {
	denied := Denied(list)
	if len(denied) == 0 {
		return nil
	}
	var lines, overridable []string
	for _, p := range denied {
		for _, r := range p.Results {
			if r.Severity == Error {
				lines = append(lines, fmt.Sprintf("%s (%s): %s", p.Name, p.Level, strings.TrimSuffix(diag.Visible(r.Words()), ".")))
			}
		}
		if p.Level == config.Overridable {
			overridable = append(overridable, "-override="+p.Name)
		}
	}
	what := "A mandatory policy cannot be overridden."
	if len(overridable) == len(denied) {
		what = fmt.Sprintf("Who may decide that plans and applies with %s -reason=TEXT, which is recorded.", strings.Join(overridable, " "))
	}
	return diag.Errorf("The plan is denied by policy", "%s.\nNothing was changed. %s", strings.Join(lines, "\n"), what)
}

// Invalid returns what is wrong with the policies of a plan that was read from a file, or "".
func Invalid(list []Policy) string {
	for _, p := range list {
		if p.Level != config.Advisory && p.Level != config.Overridable && p.Level != config.Mandatory || diag.Visible(p.Name) != p.Name {
			return "a policy is not one"
		}
		if p.Denies != p.denies() || p.Override != nil && (p.Level != config.Overridable || p.Override.Reason == "") {
			return "a policy is not what its results make of it"
		}
	}
	return ""
}

// Timed reports whether a policy reads when the plan was made.
func Timed(list []Policy) bool {
	return slices.ContainsFunc(list, func(p Policy) bool { return p.Timed })
}

// Map returns policies with f applied to the texts that they or their images have made.
func Map(list []Policy, f func(string) string) (out []Policy) {
	for _, p := range list {
		p.Results = slices.Clone(p.Results)
		for i, r := range p.Results {
			p.Results[i].Message, p.Results[i].Address, p.Results[i].Path = f(r.Message), f(r.Address), f(r.Path)
		}
		out = append(out, p)
	}
	return out
}
