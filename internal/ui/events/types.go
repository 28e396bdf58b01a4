package events

// The words by which programs know the events.

// Type is "version".
func (Version) Type() string { return "version" }

// Type is "diagnostic".
func (Diagnostic) Type() string { return "diagnostic" }

// Type is "note".
func (Note) Type() string { return "note" }

// Type is "pull".
func (Pull) Type() string { return "pull" }

// Type is "resource_asking".
func (ResourceAsking) Type() string { return "resource_asking" }

// Type is "resource_decided".
func (ResourceDecided) Type() string { return "resource_decided" }

// Type is "planned_change".
func (PlannedChange) Type() string { return "planned_change" }

// Type is "plan_summary".
func (PlanSummary) Type() string { return "plan_summary" }

// Type is "drift".
func (Drift) Type() string { return "drift" }

// Type is "apply_started".
func (ApplyStarted) Type() string { return "apply_started" }

// Type is "action_started".
func (ActionStarted) Type() string { return "action_started" }

// Type is "log".
func (Log) Type() string { return "log" }

// Type is "action_ended".
func (ActionEnded) Type() string { return "action_ended" }

// Type is "resource_ended".
func (ResourceEnded) Type() string { return "resource_ended" }

// Type is "stopping".
func (Stopping) Type() string { return "stopping" }

// Type is "checks".
func (Checks) Type() string { return "checks" }

// Type is "outputs".
func (Outputs) Type() string { return "outputs" }

// Type is "report".
func (Report) Type() string { return "report" }

// Type is "dropped".
func (Dropped) Type() string { return "dropped" }

// Type is "end".
func (End) Type() string { return "end" }

// All gives one of each, in the order in which a run may send them.
func All() []Body {
	return []Body{Version{}, Diagnostic{}, Note{}, Pull{}, ResourceAsking{}, ResourceDecided{}, PlannedChange{}, PlanSummary{}, Drift{}, ApplyStarted{}, ActionStarted{}, Log{}, ActionEnded{}, ResourceEnded{}, Stopping{}, Checks{}, Outputs{}, Report{}, Dropped{}, End{}}
}
