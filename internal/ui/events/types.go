package events

// The words by which programs know the events.

// Type returns "version".
func (Version) Type() string { return "version" }

// Type returns "diagnostic".
func (Diagnostic) Type() string { return "diagnostic" }

// Type returns "note".
func (Note) Type() string { return "note" }

// Type returns "pull".
func (Pull) Type() string { return "pull" }

// Type returns "resource_asking".
func (ResourceAsking) Type() string { return "resource_asking" }

// Type returns "resource_decided".
func (ResourceDecided) Type() string { return "resource_decided" }

// Type returns "planned_change".
func (PlannedChange) Type() string { return "planned_change" }

// Type returns "plan_summary".
func (PlanSummary) Type() string { return "plan_summary" }

// Type returns "drift".
func (Drift) Type() string { return "drift" }

// Type returns "apply_started".
func (ApplyStarted) Type() string { return "apply_started" }

// Type returns "action_started".
func (ActionStarted) Type() string { return "action_started" }

// Type returns "log".
func (Log) Type() string { return "log" }

// Type returns "action_ended".
func (ActionEnded) Type() string { return "action_ended" }

// Type returns "resource_ended".
func (ResourceEnded) Type() string { return "resource_ended" }

// Type returns "stopping".
func (Stopping) Type() string { return "stopping" }

// Type returns "checks".
func (Checks) Type() string { return "checks" }

// Type returns "outputs".
func (Outputs) Type() string { return "outputs" }

// Type returns "report".
func (Report) Type() string { return "report" }

// Type returns "dropped".
func (Dropped) Type() string { return "dropped" }

// Type returns "end".
func (End) Type() string { return "end" }

// All returns one of each, in the order in which a run may send them.
func All() []Body {
	return []Body{Version{}, Diagnostic{}, Note{}, Pull{}, ResourceAsking{}, ResourceDecided{}, PlannedChange{}, PlanSummary{}, Drift{},
		ApplyStarted{}, ActionStarted{}, Log{}, ActionEnded{}, ResourceEnded{}, Stopping{}, Checks{}, Outputs{}, Report{}, Dropped{}, End{}}
}
