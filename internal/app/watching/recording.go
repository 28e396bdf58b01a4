package watching

import (
	"io"
	"sync/atomic"
	"time"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/runs"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/ui/events"
)

// Limits of the records of a repair: the bytes of logs among its events, and how long its
// end waits for the events to be written.
const (
	recordedLogs   = 4 << 20
	writerPatience = 10 * time.Second
)

// Recording is one run of a watch, with its records and events.
type Recording struct {
	Run     string
	Records app.Records
	Send    func(events.Event)
	End     func(apply.Status)
}

// Records returns a function that starts runs of a watch, with records in the directory of an engine.
func Records(e *app.Engine, hurry <-chan struct{}) func() Recording {
	var last atomic.Int64 // the hour in which missing records were warned of last
	return func() Recording {
		run := workspace.NewRun(runs.Watch, e.Workspace.Version, e.Workspace.Env)
		recorder := runs.New(runs.Options{Workdir: e.Workspace.Dir, Run: run, Hide: e.Workspace.Secrets.Hiding,
			Known: e.Workspace.Secrets.Known,
			Keys:  e.Workspace.Keys})
		stream := events.NewStream(e.Workspace.Secrets.Hiding, time.Now)
		stream.To("records", func(<-chan struct{}) (io.WriteCloser, error) { return recorder.Events() },
			events.Limits{Waiting: 8 << 20, Most: 64 << 20, Logs: recordedLogs})
		stream.Send(events.Event{Level: events.Info, Message: "deployster " + e.Workspace.Version + " watch",
			Body: events.Version{Format: events.Format, Deployster: e.Workspace.Version, Command: run.Command, Run: run.ID}})
		return Recording{Run: run.ID, Records: recorder, Send: stream.Send, End: func(status apply.Status) {
			code := status.ExitCode()
			err := recorder.Finish(runs.Status(status), code, time.Now())
			if hour := time.Now().Unix()/3600 + 1; err != nil && last.Swap(hour) != hour {
				e.Workspace.Warn(diag.Warningf("Records are not complete", "Inputs and answers of images could not be recorded: %s. "+
					"Repairs continue. This message is repeated at most once an hour.", err))
			}
			stream.Send(events.OfEnd(status, code, time.Since(run.Started)))
			_ = stream.Close(writerPatience, hurry) // events that are missing here were also written elsewhere
			if err := recorder.Close(); err != nil {
				e.Workspace.Warn(diag.Warningf("Records may hold a secret", "A secret that was discovered late could not be removed "+
					"from the events of a repair: %s.", err))
			}
		}}
	}
}
