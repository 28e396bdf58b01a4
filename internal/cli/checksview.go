package cli

import (
	"fmt"
	"strings"

	"deployster/config"
	"deployster/plan"
)

// checks prints what the check blocks say: how many came out how, and what is
// wrong with those that failed.
func (p printer) checks(list []config.CheckResult) {
	if len(list) == 0 {
		return
	}
	counts := map[config.CheckStatus]int{}
	for _, c := range list {
		counts[c.Status]++
	}
	var parts []string
	for _, s := range []struct {
		status config.CheckStatus
		words  string
	}{{config.CheckPass, "passed"}, {config.CheckFail, "failed"}, {config.CheckUnknown, "known after apply"}} {
		if n := counts[s.status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s.words))
		}
	}
	p.printf("Checks: %s.\n", join(parts))
	for _, c := range list {
		if c.Status == config.CheckFail {
			p.printf("  %s %s: %s\n", p.style.yellow("!"), c.Name, strings.Join(c.Messages, " "))
		}
	}
}

// ignoredChanges names what the manifest says otherwise and the plan does not
// follow, as paths in a config.
func ignoredChanges(s *plan.Step) string {
	paths := make([]string, len(s.Ignored))
	for i, pointer := range s.Ignored {
		if paths[i] = dotted(pointer); pointer == "" {
			paths[i] = "the whole config"
		}
	}
	return join(paths)
}

// dotted writes a JSON pointer as a path.
func dotted(pointer string) string {
	return strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")
}
