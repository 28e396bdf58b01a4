package announce

import (
	"deployster/apply"
	"deployster/internal/base/words"
	"deployster/internal/ui/events"
	"deployster/state"
)

// Report sends how an apply ended; recorded has the outputs, nil where none are known.
func Report(send func(events.Event), r *apply.Report, recorded *state.Snapshot) {
	if len(r.Checks) > 0 {
		send(events.OfChecks(r.Checks))
	}
	if recorded != nil && len(recorded.Outputs) > 0 {
		values := make(map[string]events.OutputValue, len(recorded.Outputs))
		for name, o := range recorded.Outputs {
			values[name] = events.OutputValue{Sensitive: o.Sensitive}
			if !o.Sensitive {
				values[name] = events.OutputValue{Value: o.Value}
			}
		}
		send(events.Event{Level: events.Info, Message: words.Count(len(values), "output"), Body: events.Outputs{Outputs: values}})
	}
	send(events.OfReport(r))
}
