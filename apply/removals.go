package apply

import (
	"fmt"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/order"
)

// failedRemoval is ResourceReport.Failed of a removal that also destroyed another resource,
// and of that other resource.
const failedRemoval = "removal"

// removals puts into a report which resources removals also destroyed. The plan says which
// resources are asked again after which removals.
type removals struct {
	plan    *plan.Plan
	resumes bool // an earlier run of the plan has died, which may have removed what is skipped now
}

// tookWithIt reports as failed each resource that a removal also destroyed, and the removals
// that may have done it.
func (m removals) tookWithIt(report *Report, lost []*outcome) {
	for _, out := range lost {
		if out.report.Failed != failedRemoval {
			report.Problems = append(report.Problems, out.problem)
			m.lose(report, out, out.report.Reason)
			continue
		}
		var ends []string
		for _, b := range m.plan.Barriers {
			if !slices.Contains(b.Again, out.addr) {
				continue
			}
			for _, node := range b.After {
				addr, _ := order.OfNode(node)
				if res := report.Resources[addr]; res != nil && res.Status != NotStarted && (res.Status != Skipped || m.resumes) {
					ends = append(ends, addr)
				}
			}
		}
		if len(ends) == 0 { // nothing was removed after all
			m.lose(report, out, "it was changed since the plan was made. Plan again")
			report.Problems = append(report.Problems, &diag.Diagnostic{Severity: diag.Error, Address: out.addr,
				Summary: "Changed since the plan was made", Detail: fmt.Sprintf("%s was valid then and no longer is. This apply removed "+
					"nothing of its type. Plan again to see what is to be done.", config.Reference(out.addr))})
			continue
		}
		removals := references(ends)
		for _, addr := range ends {
			res := report.Resources[addr]
			if res.Status == OK || res.Status == Skipped {
				res.Status, res.Failed, res.Reason = Error, failedRemoval, "its removal took "+config.Reference(out.addr)+" with it"
			}
		}
		m.lose(report, out, "the removal of "+removals+" also destroyed it. Plan again to create it")
		report.Problems = append(report.Problems, &diag.Diagnostic{Severity: diag.Error, Address: strings.Join(ends[:min(1, len(ends))], ""),
			Summary: "Its removal took " + config.Reference(out.addr) + " with it",
			Detail: fmt.Sprintf("%s was valid before %s was destroyed and no longer is: to their type, both are one object. Plan again "+
				"to create it.", config.Reference(out.addr), removals)})
	}
}

// unseen reports a problem for the resources that were not asked again after a removal: it is
// unknown whether that also destroyed them. It returns whether there are any.
func (m removals) unseen(report *Report, ended []outcome) bool {
	begun, seen := map[string]bool{}, map[string]bool{}
	for i := range ended {
		switch out := &ended[i]; out.what {
		case order.Again:
			seen[out.addr] = !out.failed() || out.report.Failed == failedRemoval || out.report.Failed == failedJournal
		default:
			begun[out.node] = out.begun()
		}
	}
	var unseen, ends []string
	for _, b := range m.plan.Barriers {
		after := slices.DeleteFunc(slices.Clone(b.After), func(node string) bool { return !begun[node] })
		again := slices.DeleteFunc(slices.Clone(b.Again), func(addr string) bool {
			res := report.Resources[addr]
			return seen[addr] || res != nil && res.Status == NotStarted
		})
		if len(after) == 0 || len(again) == 0 {
			continue
		}
		unseen = append(unseen, again...)
		for _, node := range after {
			addr, _ := order.OfNode(node)
			ends = append(ends, addr)
		}
	}
	if len(unseen) == 0 {
		return false
	}
	slices.Sort(unseen)
	report.Problems = append(report.Problems, diag.Errorf("State not read again after a destroy",
		"After %s was destroyed, the state of %s was not read again; it may have been destroyed, too. Plan again without -target and "+
			"-exclude to see its state.", references(ends), references(slices.Compact(unseen))))
	return true
}

// lose reports a resource of the plan as failed: it is no longer valid.
func (m removals) lose(report *Report, out *outcome, why string) {
	if m.plan.Resources[out.addr] == nil {
		return // the plan leaves it out
	}
	res := report.Resources[out.addr]
	if res == nil {
		res = &ResourceReport{}
		report.Resources[out.addr] = res
	}
	res.Status, res.Failed, res.Reason = Error, out.report.Failed, why
}

// references lists resources as manifests write them.
func references(addresses []string) string {
	words := make([]string, len(addresses))
	for i, addr := range addresses {
		words[i] = config.Reference(addr)
	}
	return strings.Join(words, ", ")
}
