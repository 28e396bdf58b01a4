package config

import (
	"github.com/hashicorp/hcl/v2"

	"deployster/internal/base/diag"
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

// check is a check block as it is written.
type check struct {
	name    string
	at      hcl.Range
	asserts []condition
}

var checkSchema = schema{&hcl.BodySchema{}}.with("assert")

func (l *loader) check(b *hcl.Block) {
	c := l.content(b.Body, checkSchema.BodySchema)
	v := &check{name: b.Labels[0], at: b.DefRange, asserts: l.conditions(c, "assert")}
	if first := l.b.checks[v.name]; first != nil {
		l.add(twice("check", v.name, first.at, v.at))
		return
	}
	if len(c.Blocks) == 0 {
		l.add(failure(v.at, "Nothing is checked", "A check has at least one assert block: assert { condition = ..., error_message = \"...\" }."))
	}
	l.b.checks[v.name] = v
}

// Checks holds all checks to what is known, those of the root before those of
// modules, each sorted by name. An assertion that
// fails, or that cannot be evaluated, is a warning: a check keeps nothing from
// being done.
func (m *Manifest) Checks(s Scope) ([]CheckResult, diag.Diagnostics) {
	var out []CheckResult
	var list hcl.Diagnostics
	failed := guard(func() {
		e := m.evaluator(s)
		m.eachModule(func(mod *module) {
			for _, name := range sortedKeys(mod.block.checks) {
				c, d := e.check(mod.block.checks[name], mod)
				out, list = append(out, c), append(list, d...)
			}
		})
	})
	if failed != nil {
		failed.Severity = diag.Warning
		return nil, diag.Diagnostics{failed}
	}
	return out, m.convert(list)
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
