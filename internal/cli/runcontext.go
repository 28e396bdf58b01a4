package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deployster/internal/cli/commandline"

	"deployster/apply"
	"deployster/internal/app/redact"
	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/runs"
	"deployster/internal/ui/events"
	"deployster/internal/ui/terminal"
)

// readerPatience is how long the end of a command waits for readers of its
// events who take nothing.
const readerPatience = 10 * time.Second

// recordedLogs bounds what images print in the events that are recorded; all of
// it stands beside them, in the records of the invocations.
const recordedLogs = 4 << 20

// runContext is one run of the tool as programs see it: its events, and the records
// that it keeps. It is there before the command line is understood and until the
// exit code is known, so that both begin and end in every case.
type runContext struct {
	run      runs.Run
	secrets  *redact.Redactor // what must never be shown
	stream   *events.Stream
	json     bool   // stdout has the events, and nothing else
	into     string // a file has them too; "" = none
	recorder *runs.Recorder
	ready    chan *runs.Recorder // passes it on to the reader that records the events
}

// streaming are the commands that tell events.
var streaming = []string{"plan", "apply", "destroy", "drift", "watch"}

// newRunContext returns the context of a command line. Its events tell of mistakes
// too.
func newRunContext(e Env, line commandline.Line) (*runContext, error) {
	secrets, command := &redact.Redactor{}, line.Command()
	r := &runContext{secrets: secrets, stream: events.NewStream(secrets.Hiding, time.Now), ready: make(chan *runs.Recorder, 1),
		run: runs.Run{ID: runs.NewID(time.Now()), Command: command, Deployster: Version, Started: time.Now().UTC()}}
	if !slices.Contains(streaming, command) {
		return r, nil
	}
	r.json = line.On("json")
	if command != "watch" { // whose repairs have records of their own
		r.stream.To("records", r.recordEvents, events.Limits{Waiting: 8 << 20, Most: 64 << 20, Logs: recordedLogs})
	}
	if r.json {
		r.stream.To("stdout", events.WithoutClose(e.Stdout), events.DefaultLimits())
	}
	into, err := line.Values["json-into"], error(nil)
	if into != "" {
		path := into
		if !filepath.IsAbs(path) {
			path = filepath.Join(e.path(line.Values["chdir"]), into)
		}
		if err = r.writeInto(path); err == nil {
			r.into = into
		} else {
			err = diag.Errorf("Cannot write the events", "-json-into=%s: %s. Nothing was changed.", into, err)
		}
	}
	r.stream.Send(events.Event{Level: events.Info, Message: fmt.Sprintf("deployster %s %s", Version, command),
		Body: events.Version{Format: events.Format, Deployster: Version, Command: command, Run: r.run.ID}})
	return r, err
}

// writeInto adds a file of the user's to those who get the events.
func (r *runContext) writeInto(path string) error {
	for _, ending := range []string{".hcl", ".hcl.json", ".state.json"} {
		if strings.HasSuffix(path, ending) {
			return fmt.Errorf("its name is that of a manifest or of a state file, which it would replace")
		}
	}
	open, err := events.OpenFile(path)
	if err == nil {
		r.stream.To("file", open, events.DefaultLimits())
	}
	return err
}

// recordEvents waits for the records, which begin when there is something to
// keep.
func (r *runContext) recordEvents(<-chan struct{}) (io.WriteCloser, error) {
	recorder := <-r.ready
	if recorder == nil {
		return nil, nil
	}
	return recorder.Events()
}

// record gives the records, which begin below a working directory when it is
// called for the first time.
func (r *runContext) record(workdir string, keys *encryption.Keyring) *runs.Recorder {
	if r.recorder != nil {
		return r.recorder
	}
	r.recorder = runs.New(runs.Options{Workdir: workdir, Run: r.run, Hide: r.secrets.Hiding, Keys: keys})
	r.ready <- r.recorder
	return r.recorder
}

// diagnostics tells programs of errors and warnings, or people.
func (r *runContext) diagnostics(e Env, list ...*diag.Diagnostic) {
	for _, d := range list {
		r.stream.Send(events.OfDiagnostic(d))
	}
	if !r.json {
		r.printer(e).Diagnostics(list)
	}
}

// printer writes to stderr.
func (r *runContext) printer(e Env) terminal.Printer {
	return terminal.Printer{Out: e.Stderr, Hide: r.secrets.Hide, Color: e.ErrColor && e.wantsColor()}
}

// finish ends the records and the events, and gives the exit code: a result
// that nobody got was not delivered.
func (r *runContext) finish(e Env, code int) int {
	status := apply.Error
	switch code {
	case exitDone, exitChanges, exitDrift:
		status = apply.OK
	case exitInterrupted:
		status = apply.Interrupted
	}
	if r.recorder != nil {
		if err := r.recorder.Finish(runs.Status(status), code, time.Now()); err != nil {
			d := diag.Warningf("Records are not complete", "What the images were sent and what they answered could not be kept: %s.", err)
			r.diagnostics(e, d)
		}
	}
	r.stream.Send(events.OfEnd(status, code, time.Since(r.run.Started)))
	close(r.ready)
	problems := r.stream.Close(readerPatience, e.Abort)
	if r.recorder != nil {
		r.recorder.Close()
	}
	p := terminal.Printer{Out: e.Stderr, Hide: r.secrets.Hide} // there are no events any more
	if err := problems["file"]; err != nil {
		p.Diagnostic(diag.Warningf("The events are not complete", "-json-into=%s: %s.", r.into, err))
	}
	if err := problems["stdout"]; err != nil {
		p.Diagnostic(diag.Errorf("The events are not complete", "They could not be written to stdout: %s.", err))
		if code == exitDone && (r.run.Command == "plan" || r.run.Command == "drift") {
			return exitError // there was nothing else to do than to tell
		}
	}
	return code
}
