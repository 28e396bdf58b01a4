package apply

import (
	"bytes"
	"fmt"

	"deployster/plan"
	"deployster/plan/observe"
	"deployster/plan/things"
	"deployster/protocol"
	"deployster/state"
)

// asker asks resources again after removals.
type asker struct{ *run }

// askAgain asks again for the state of a resource that was valid before others of its kind
// were destroyed. Another state than before is recorded, also one that is no longer valid, so
// that no later plan takes the resource for unchanged.
func (r asker) askAgain(out *outcome) {
	out.report.Status = Unchanged
	if !r.facts.AskAgain(out.addr) {
		return // none was destroyed after all
	}
	step, in, err := r.asRecorded(out.addr)
	if err != nil {
		out.fail(failedConfig, err)
		return
	}
	r.options.event(Checking{Address: out.addr, After: true})
	o := r.queries.state(step, out.addr, in)
	answer, err := o.Answer, o.Err
	if err != nil {
		out.failQuery(err)
		return
	}
	v, reached := r.facts.Reached(out.addr)
	if answer.Status == protocol.Valid {
		r.facts.SetAnswered(out.addr, answer) // its own step may still be to come
		if reached && !bytes.Equal(answer.State, v.State) {
			r.keep(step, out, in, answer, step.Sensitive, r.options.Now())
		}
		return
	}
	out.report.Status, out.report.Failed = Error, failedRemoval
	out.report.Reason = fmt.Sprintf("its image returned %s after others of its kind were destroyed", answer.Status)
	entry, known := r.prior.Completed(out.addr)
	if reached {
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

// asRecorded returns the step and the input to ask for a valid resource: as the plan has
// it, as it was reached in this apply, or from its entry, where the plan leaves it out.
func (r asker) asRecorded(addr string) (*plan.Step, protocol.StateInput, error) {
	step, planned := r.plan.Resources[addr]
	if !planned {
		entry := things.HostsOf(r.manifest, r.plan.Hosts).Place(r.prior.Resources[addr])
		step = plan.RecordedStep(entry)
		step.Init = r.plan.Others[addr]
		of := step.Observed(addr)
		in, err := observe.Request(&of, &entry, observe.Scope{Prior: r.prior, View: observe.RecordedViews(r.prior, r.facts.Look)})
		return step, in, err
	}
	config := step.Config
	if v, reached := r.facts.Reached(addr); reached {
		config = v.Config
	}
	in, err := r.request(step, addr, config, nil)
	if v, reached := r.facts.Reached(addr); reached {
		in.LastState = v.State
	}
	return step, in, err
}
