package report

import (
	"fmt"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan/order"
)

// FailedRemoval is ResourceReport.Failed of a removal that also destroyed another resource,
// and of that other resource.
const FailedRemoval = "removal"

// tookWithIt reports as failed each resource that a removal also destroyed, and the removals
// that may have done it.
func (o *Outcomes) tookWithIt(report *Report, lost []*Ended) {
	for _, out := range lost {
		if out.Report.Failed != FailedRemoval {
			report.Problems = append(report.Problems, out.Problem)
			o.lose(report, out, out.Report.Reason)
			continue
		}
		var ends []string
		for _, b := range o.Plan.Barriers {
			if !slices.Contains(b.Again, out.Addr) {
				continue
			}
			for _, node := range b.After {
				addr, _ := order.OfNode(node)
				if res := report.Resources[addr]; res != nil && res.Status != NotStarted && (res.Status != Skipped || o.Resumes) {
					ends = append(ends, addr)
				}
			}
		}
		if len(ends) == 0 { // nothing was removed after all
			o.lose(report, out, "it was changed since the plan was made. Plan again")
			report.Problems = append(report.Problems, &diag.Diagnostic{Severity: diag.Error, Address: out.Addr,
				Summary: "Changed since the plan was made", Detail: fmt.Sprintf("%s was valid then and no longer is. This apply removed "+
					"nothing of its type. Plan again to see what is to be done.", config.Reference(out.Addr))})
			continue
		}
		removals := References(ends)
		for _, addr := range ends {
			res := report.Resources[addr]
			if res.Status == OK || res.Status == Skipped {
				res.Status, res.Failed, res.Reason = Error, FailedRemoval, "its removal took "+config.Reference(out.Addr)+" with it"
			}
		}
		o.lose(report, out, "the removal of "+removals+" also destroyed it. Plan again to create it")
		report.Problems = append(report.Problems, &diag.Diagnostic{Severity: diag.Error,
			Address: strings.Join(ends[:min(1, len(ends))], ""),
			Summary: "Its removal took " + config.Reference(out.Addr) + " with it",
			Detail: fmt.Sprintf("%s was valid before %s was destroyed and no longer is: to their type, both are one object. Plan again "+
				"to create it.", config.Reference(out.Addr), removals)})
	}
}

// unseen reports a problem for the resources that were not queried again after a removal: it is
// unknown whether that also destroyed them. It returns whether there are any.
func (o *Outcomes) unseen(report *Report) bool {
	begun, seen := map[string]bool{}, map[string]bool{}
	for i := range o.Ended {
		switch out := &o.Ended[i]; out.What {
		case order.Again:
			seen[out.Addr] = !out.Failed() || out.Report.Failed == FailedRemoval || out.Report.Failed == FailedJournal
		default:
			begun[out.Node] = out.Begun()
		}
	}
	var unseen, ends []string
	for _, b := range o.Plan.Barriers {
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
			"-exclude to see its state.", References(ends), References(slices.Compact(unseen))))
	return true
}

// lose reports a resource of the plan as failed: it is no longer valid.
func (o *Outcomes) lose(report *Report, out *Ended, why string) {
	if o.Plan.Resources[out.Addr] == nil {
		return // the plan omits it
	}
	res := report.Resources[out.Addr]
	if res == nil {
		res = &ResourceReport{}
		report.Resources[out.Addr] = res
	}
	res.Status, res.Failed, res.Reason = Error, out.Report.Failed, why
}

// References lists resources as manifests write them.
func References(addresses []string) string {
	words := make([]string, len(addresses))
	for i, addr := range addresses {
		words[i] = config.Reference(addr)
	}
	return strings.Join(words, ", ")
}
