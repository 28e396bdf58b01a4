package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// CheckStatus says how a check came out.
type CheckStatus string

// The statuses of a check. A check of which one assertion fails has failed,
// whatever of the others is not known.
const (
	CheckPass    CheckStatus = "pass"
	CheckFail    CheckStatus = "fail"
	CheckUnknown CheckStatus = "unknown" // what it looks at is known only after apply
)

// CheckResult is what a check block says of the world.
type CheckResult struct {
	Name     string      `json:"name"` // with the module that it is in: module.web.alive
	Status   CheckStatus `json:"status"`
	Messages []string    `json:"messages,omitempty"` // of the assertions that failed
}

// checks evaluates all checks, those of the root before those of modules, each
// sorted by name.
func (e *evaluator) checks() (out []CheckResult, diags hcl.Diagnostics) {
	e.m.top.each(func(mod *module) {
		for _, name := range slices.Sorted(maps.Keys(mod.block.checks)) {
			c, d := e.check(mod.block.checks[name], mod)
			out, diags = append(out, c), append(diags, d...)
		}
	})
	return out, diags
}

func (e *evaluator) check(c *check, mod *module) (CheckResult, hcl.Diagnostics) {
	out := CheckResult{Name: mod.join(c.name), Status: CheckPass}
	var diags hcl.Diagnostics
	for _, a := range c.asserts {
		v, why := e.judge(a, mod.site())
		switch {
		case v == undecided && out.Status == CheckPass:
			out.Status = CheckUnknown
		case v == broken:
			out.Status = CheckFail
		}
		for _, d := range e.m.convert(why) {
			out.Messages = append(out.Messages, d.Detail)
		}
		for _, d := range why {
			d.Severity, d.Summary = hcl.DiagWarning, "Check "+out.Name+" failed"
		}
		diags = append(diags, why...)
	}
	return out, diags
}
