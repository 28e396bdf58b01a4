package policylines

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/ui/paint"
	"deployster/plan/verdict"
)

// Text returns the policies of a plan with their results, and "" if there are none.
func Text(list []verdict.Policy) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Policies:\n")
	for _, p := range list {
		sign := paint.Green("+")
		switch {
		case p.Denies:
			sign = paint.Red("!")
		case p.Failed():
			sign = paint.Yellow("!")
		}
		fmt.Fprintf(&b, "  %s %s: %s\n", sign, diag.Visible(p.Name), Status(p))
		for _, m := range Messages(p) {
			fmt.Fprintf(&b, "      %s\n", diag.Visible(m))
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// Status returns what the results of a policy mean, in one line.
func Status(p verdict.Policy) string {
	level := string(p.Level)
	if p.Required {
		level += ", required"
	}
	switch {
	case p.Denies:
		return "denies the plan (" + level + ")"
	case p.Override != nil:
		return fmt.Sprintf("overridden by %s: %s (%s)", diag.Visible(who(p)), diag.Visible(p.Override.Reason), level)
	case p.Failed():
		return "failed (" + level + ")"
	}
	return "passed (" + level + ")"
}

func who(p verdict.Policy) string {
	o := p.Override
	if o.CI != "" {
		return o.CI
	}
	return o.User + " on " + o.Host
}

// Messages returns the results of a policy, one text each.
func Messages(p verdict.Policy) (list []string) {
	for _, r := range p.Results {
		list = append(list, string(r.Severity)+": "+r.Words())
	}
	return list
}
