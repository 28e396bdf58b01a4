package announce

import (
	"fmt"
	"maps"
	"slices"

	"deployster/internal/app/redact"
	"deployster/internal/ui/events"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/plan/reason"
	"deployster/plan/verdict"
)

// Plan sends the changes of a plan as events, without secrets; file is where it was saved.
func Plan(send func(events.Event), secrets *redact.Redactor, p *plan.Plan, file string) {
	for _, addr := range p.Order() {
		step := p.Resources[addr]
		if step.Quiet() {
			continue
		}
		step = secrets.Step(step)
		message := fmt.Sprintf("%s: to %s", addr, step.Shown())
		switch step.Change() {
		case plan.Valid:
			switch message = addr + ": unchanged"; {
			case step.Certainty == plan.MayChange:
				message = addr + ": may change"
			case step.Made():
				message = addr + ": to record, created by an interrupted apply"
			case step.Adopted():
				message = addr + ": to adopt"
			case step.MovedFrom != "":
				message = addr + ": " + render.MovedFrom(step)
			case len(step.Edited()) > 0:
				message = addr + ": its config " + render.Edited(step)
			}
		case plan.Left:
			message = addr + ": unchanged"
		case plan.Deferred:
			if message = addr + ": deferred"; step.Expected() != "" {
				message = fmt.Sprintf("%s: to %s once its dependencies exist", addr, step.Expected())
			}
		case plan.ReadFailed:
			message = addr + ": failed: " + step.Reason.Words()
		}
		host, answer := "", step.Answer()
		if h := step.Settings.Host; h != nil {
			host = h.Name
		}
		send(events.Event{Level: events.Info, Message: message, Body: events.PlannedChange{Resource: addr, Change: step.Shown(), Host: host,
			Image: step.Type, Digest: step.Init.Digest, Actions: answer.Actions, Shutdown: answer.Shutdown, Reasons: answer.Reasons,
			Reason: step.Reason.Words(), MovedFrom: step.MovedFrom, Expected: step.Expected(),
			MayChange: step.Certainty == plan.MayChange, Early: step.Certainty == plan.Early,
			Adopted: step.Adopted() && !step.Made(), Made: step.Made(),
			MovedWhy: step.MovedWhy, Edited: step.Edited(), Notes: reason.Words(step.Notes), RunsWith: step.RunsWith, Weaker: step.Weaker,
			Drifted: step.Drifted(), Inputs: step.Inputs(), NotMade: step.DestroysAdopted(), Replaces: step.Replaces,
			Deposed: step.Deposed, Exclusive: step.Exclusive}})
	}
	for _, addr := range p.LaterDeclared() {
		later := p.Later[addr]
		body := events.PlannedChange{Resource: addr, Change: plan.Deferred, Image: later.Type, Later: true,
			Reason: secrets.Hide(later.Reason.Words())}
		if later.Sort == plan.LaterBlock {
			body.Keys = render.KnownAfter
		}
		send(events.Event{Level: events.Info, Message: render.LaterName(addr, later) + ": deferred to a later round", Body: body})
	}
	if len(p.Checks) > 0 {
		send(events.OfChecks(secrets.Checks(p.Checks)))
	}
	if len(p.Policies) > 0 {
		send(events.OfPolicies(verdict.Map(p.Policies, secrets.Hide)))
	}
	summary := events.PlanSummary{Plan: p.ID, Summary: p.Summary, Changes: p.HasChanges(), Moves: p.Moves, LeftOpen: p.LeftOpen(),
		Later: p.LaterDeclared(), File: file, Rootless: p.Rootless}
	for _, s := range p.Exclusive {
		summary.Exclusive = append(summary.Exclusive, s.Map(secrets.Hide))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Outputs)) {
		if p.Outputs[name].Changed {
			summary.Outputs = append(summary.Outputs, name)
		}
	}
	send(events.Event{Level: events.Info, Message: "Plan: " + render.Counts(p), Body: summary})
}
