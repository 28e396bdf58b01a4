package results

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/decl"
	"deployster/config/eval"
	"deployster/config/instance"
	"deployster/config/source"
)

// CheckStatus is the result of a check.
type CheckStatus string

// The statuses of a check. A check fails if one of its assertions fails, even if
// others are unknown.
const (
	CheckPass    CheckStatus = "pass"
	CheckFail    CheckStatus = "fail"
	CheckUnknown CheckStatus = "unknown" // it needs values that are known only after apply
)

// CheckResult is the result of a check block.
type CheckResult struct {
	Name     string      `json:"name"` // with its module: module.web.alive
	Status   CheckStatus `json:"status"`
	Gate     bool        `json:"gate,omitempty"`     // a failure starts no further wave of hosts
	Messages []string    `json:"messages,omitempty"` // the messages of the assertions that failed
}

// Checks evaluates all checks, those of the root before those of modules, each
// sorted by name. failed has why what checks read could not be read, by address.
func Checks(e *eval.Evaluator, failed map[string]string) (out []CheckResult, diags hcl.Diagnostics) {
	e.M.Top.Each(func(mod *instance.Module) {
		for _, name := range slices.Sorted(maps.Keys(mod.Decl.Checks)) {
			c, d := check(e, mod.Decl.Checks[name], mod, failed)
			out, diags = append(out, c), append(diags, d...)
		}
	})
	return out, diags
}

func check(e *eval.Evaluator, c *decl.Check, mod *instance.Module, failed map[string]string) (CheckResult, hcl.Diagnostics) {
	out := CheckResult{Name: mod.Join(c.Name), Status: CheckPass, Gate: c.Gate}
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(c.Lookups)) {
		if why := failed[mod.Join(c.Lookups[name].Name)]; why != "" {
			d := source.Failure(c.Lookups[name].At, "Check "+out.Name+" failed", "resource.%s cannot be read: %s", name, why)
			d.Severity = hcl.DiagWarning
			out.Status, out.Messages, diags = CheckFail, append(out.Messages, d.Detail), append(diags, d)
		}
	}
	for _, a := range c.Asserts {
		v, why := judge(e, a, mod.Checking(c))
		switch {
		case v == undecided && out.Status == CheckPass:
			out.Status = CheckUnknown
		case v == broken:
			out.Status = CheckFail
		}
		for _, d := range e.M.Convert(why) {
			out.Messages = append(out.Messages, d.Detail)
		}
		for _, d := range why {
			d.Severity, d.Summary = hcl.DiagWarning, "Check "+out.Name+" failed"
		}
		diags = append(diags, why...)
	}
	return out, diags
}
