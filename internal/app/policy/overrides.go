package policy

import (
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/plan/verdict"
	"deployster/state/actions"
)

// Overrides are the policies that a person overrides, and why.
type Overrides struct {
	Names  []string
	Reason *string // nil = none was given
}

// maxReason is the maximum length of a reason, in bytes.
const maxReason = 1000

// Check returns an error if the options cannot be used, whatever is planned. saved: nothing is planned.
func (o Overrides) Check(saved bool) error {
	switch given := o.Reason != nil; {
	case len(o.Names) == 0 && given:
		return diag.Errorf("Missing flag", "-reason is why -override overrides a policy, and -override is missing.")
	case len(o.Names) == 0:
		return nil
	case saved:
		return diag.Errorf("Conflicting flags",
			"-override is a decision of who plans, and a saved plan keeps it: it cannot be made when the "+
				"plan is applied. Plan again with -override.")
	case !given || strings.TrimSpace(*o.Reason) == "":
		return diag.Errorf("Missing flag",
			"-override needs -reason=TEXT: why the policy is overridden, such as the number of a ticket. It is "+
				"recorded in the plan, the state and the report.")
	case len(*o.Reason) > maxReason:
		return diag.Errorf("Invalid flag value", "The text of -reason has %d bytes, and at most %d are allowed.", len(*o.Reason), maxReason)
	}
	return nil
}

// fit returns an error if an option overrides what is not a policy, or one that cannot be overridden.
func (o Overrides) fit(all []ready) error {
	var names []string
	for _, r := range all {
		names = append(names, r.Name)
	}
	for _, name := range o.Names {
		i := slices.Index(names, name)
		switch {
		case i < 0:
			return diag.Errorf("Unknown policy", "-override names %q, and there is no such policy: %s.%s", diag.Visible(name),
				words.ThereAre(names), words.DidYouMean(name, names))
		case all[i].Level == config.Mandatory:
			return diag.Errorf("The policy cannot be overridden",
				"The policy %s is mandatory. Change what it denies, or have its owner change "+
					"the policy.", name)
		case all[i].Level == config.Advisory:
			return diag.Errorf("The policy denies nothing",
				"The policy %s is advisory: its results are shown, and never deny a plan. Leave "+
					"-override=%[1]s out.", name)
		}
	}
	return nil
}

// of returns the override of a verdict; nil = there is none, or nothing to override.
func (o Overrides) of(v verdict.Policy, w *workspace.Workspace) *actions.Override {
	if v.Level != config.Overridable || !v.Failed() || !slices.Contains(o.Names, v.Name) {
		return nil
	}
	who := workspace.Author(w.Env)
	return &actions.Override{Policy: v.Name, Reason: strings.TrimSpace(*o.Reason), User: who.User, CI: who.CI,
		Host: actions.Myself("").Host}
}
