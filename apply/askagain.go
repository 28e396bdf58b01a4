package apply

import (
	"fmt"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/plan"
	"deployster/plan/order"
	"deployster/plan/recall"
	"deployster/plan/things"
	"deployster/plan/view"
	"deployster/protocol"
	"deployster/state"
)

// failedRemoval is ResourceReport.Failed of a removal that took another resource
// with it, and of that one.
const failedRemoval = "removal"

// asker asks again after removals.
type asker struct{ *run }

// askAgain asks once more for a resource that was right before others of its kind were
// destroyed. What is not right any more is recorded as it was seen, so that nobody
// takes it for unchanged.
func (r asker) askAgain(out *outcome) {
	out.report.Status = Unchanged
	step, in, err := r.asRecorded(out.addr)
	if err != nil {
		out.fail(failedConfig, err)
		return
	}
	r.event(Checking{Address: out.addr, After: true})
	answer, err := r.exec.State(r.work, step.Target(out.addr), step.Init, in)
	if err != nil {
		out.failQuery(err)
		return
	}
	if answer.Status == protocol.Valid {
		return
	}
	out.report.Status, out.report.Failed = Error, failedRemoval
	out.report.Reason = fmt.Sprintf("its image says %s after others of its kind were destroyed", answer.Status)
	entry, known := r.prior.Completed(out.addr)
	if v, reached := r.facts.Reached(out.addr); reached {
		entry = r.entry(step, out.addr, in, step.Sensitive)
		entry.State, entry.Sensitive.State, entry.ValidAt, known = v.State, v.Hidden, r.options.Now(), true
	}
	if !known {
		return
	}
	hidden := r.hiddenIn(step, out.addr, in.Config, answer.StaleState, step.Sensitive)
	entry.LastSeen = &state.LastSeen{State: answer.StaleState, Sensitive: hidden, At: r.options.Now()}
	if err := r.journal.Valid(out.addr, entry); err != nil {
		out.failJournal(err)
	}
}

// asRecorded is how to ask for a resource that is right: as the plan has it, or as it
// was reached in this apply, or as it is recorded, where the plan leaves it out.
func (r asker) asRecorded(addr string) (*plan.Step, protocol.StateInput, error) {
	step, planned := r.plan.Resources[addr]
	if !planned {
		entry := things.HostsOf(r.manifest, r.plan.Hosts).Place(r.prior.Resources[addr])
		step = plan.RecordedStep(entry)
		step.Init = r.plan.Others[addr]
		deps, err := view.Dependencies(step.Init, step.Aliases, view.Recorded(r.prior, r.facts.Look))
		return step, recall.Input(r.prior, addr, entry.Config, protocol.Present, deps), err
	}
	config := step.Config
	if v, reached := r.facts.Reached(addr); reached {
		config = v.Config
	}
	in, err := r.input(step, addr, config)
	if v, reached := r.facts.Reached(addr); reached {
		in.LastState = v.State
	}
	return step, in, err
}

// tookWithIt says of each resource that a removal took with it that this is so, and
// of the removals.
func (r asker) tookWithIt(report *Report, lost []*outcome) {
	for _, out := range lost {
		if out.report.Failed != failedRemoval {
			report.Problems = append(report.Problems, out.problem)
			r.lose(report, out, out.report.Reason)
			continue
		}
		var ends []string
		for _, b := range r.plan.Barriers {
			if !slices.Contains(b.Again, out.addr) {
				continue
			}
			for _, node := range b.After {
				addr, _ := order.OfNode(node)
				if res := report.Resources[addr]; res != nil && res.Status != NotStarted {
					ends = append(ends, addr)
				}
			}
		}
		removals := references(ends)
		for _, addr := range ends {
			res := report.Resources[addr]
			if res.Status == OK || res.Status == Skipped {
				res.Status, res.Failed, res.Reason = Error, failedRemoval, "its removal took "+config.Reference(out.addr)+" with it"
			}
		}
		r.lose(report, out, "the removal of "+removals+" took it with it. Plan again to make it")
		report.Problems = append(report.Problems, &diag.Diagnostic{Severity: diag.Error, Address: strings.Join(ends[:min(1, len(ends))], ""),
			Summary: "Its removal took " + config.Reference(out.addr) + " with it",
			Detail: fmt.Sprintf("%s was valid before %s was destroyed, and is not any more: for their type, both are one thing. "+
				"Plan again to make it.", config.Reference(out.addr), removals)})
	}
}

// unseen tells what was not asked again after a removal: nobody knows whether that took it
// with it. It reports whether there is anything.
func (r asker) unseen(report *Report) bool {
	begun, seen := map[string]bool{}, map[string]bool{}
	for i := range r.ended {
		switch out := &r.ended[i]; out.what {
		case order.Again:
			seen[out.addr] = !out.failed() || out.report.Failed == failedRemoval || out.report.Failed == failedJournal
		default:
			begun[out.node] = out.acted || out.report.Status == OK || out.report.Status == Skipped
		}
	}
	var unseen, ends []string
	for _, b := range r.plan.Barriers {
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
	report.Problems = append(report.Problems, diag.Errorf("Not looked at after a removal",
		"After the removal of %s the state was not read again of %s. The removal may have taken that with it. Plan again, with nothing "+
			"left out, to see how it is now.", references(ends), references(slices.Compact(unseen))))
	return true
}

// lose puts into the report that a resource is not right any more.
func (r asker) lose(report *Report, out *outcome, why string) {
	if r.plan.Resources[out.addr] == nil {
		return // it is left out
	}
	res := report.Resources[out.addr]
	if res == nil {
		res = &ResourceReport{}
		report.Resources[out.addr] = res
	}
	res.Status, res.Failed, res.Reason = Error, out.report.Failed, why
}

// references names resources as manifests do.
func references(addresses []string) string {
	words := make([]string, len(addresses))
	for i, addr := range addresses {
		words[i] = config.Reference(addr)
	}
	return strings.Join(words, ", ")
}
