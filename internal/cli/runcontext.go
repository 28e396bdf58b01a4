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
	"deployster/internal/app/runs"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/encryption"
	"deployster/internal/base/version"
	"deployster/internal/ui/events"
	"deployster/internal/ui/terminal"
)

// readerPatience is how long the end of a command waits for readers of its events that do
// not read.
const readerPatience = 10 * time.Second

// recordedLogs bounds the output of images in the recorded events; the records of the
// invocations contain all of it.
const recordedLogs = 4 << 20

// runContext is one run of deployster as programs see it: its events, and its records. It
// exists before the command line is parsed and until the exit code is known, so that both
// begin and end in every case.
type runContext struct {
	run      runs.Run
	secrets  *redact.Redactor // the secrets, which must never be shown
	stream   *events.Stream
	status   apply.Status // how the apply of the command ended; "" = it has not reported that
	json     bool         // stdout has the events, and nothing else
	into     string       // a file that gets them too; "" = none
	recorder *runs.Recorder
	ready    chan *runs.Recorder // passes the recorder to the reader that records the events
}

// streaming are the commands that send events.
var streaming = []string{"plan", "apply", "destroy", "drift", "watch"}

// newRunContext returns the context of a command line. Its events report mistakes of the
// command line too.
func newRunContext(e Env, line commandline.Line) (*runContext, error) {
	secrets, command := &redact.Redactor{}, line.Command()
	r := &runContext{secrets: secrets, stream: events.NewStream(secrets.Hiding, time.Now), ready: make(chan *runs.Recorder, 1),
		run: workspace.NewRun(command, version.Version, e.get)}
	if !slices.Contains(streaming, command) {
		return r, nil
	}
	r.json = line.Bool("json")
	if command != "watch" { // the repairs of watch have records of their own
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
	r.stream.Send(events.Event{Level: events.Info, Message: fmt.Sprintf("deployster %s %s", version.Version, command),
		Body: events.Version{Format: events.Format, Deployster: version.Version, Command: command, Run: r.run.ID}})
	return r, err
}

// writeInto adds a file of the user to the readers of the events.
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

// recordEvents waits for the recorder, which starts when there is something to record.
func (r *runContext) recordEvents(<-chan struct{}) (io.WriteCloser, error) {
	recorder := <-r.ready
	if recorder == nil {
		return nil, nil
	}
	return recorder.Events()
}

// record returns the recorder. The first call starts it, below a working directory.
func (r *runContext) record(workdir string, keys *encryption.Keyring) *runs.Recorder {
	if r.recorder != nil {
		return r.recorder
	}
	r.recorder = runs.New(runs.Options{Workdir: workdir, Run: r.run, Hide: r.secrets.Hiding, Known: r.secrets.Known, Keys: keys})
	r.ready <- r.recorder
	return r.recorder
}

// diagnostics sends errors and warnings as events, and prints them unless stdout has the events.
func (r *runContext) diagnostics(e Env, list ...*diag.Diagnostic) {
	for _, d := range list {
		r.stream.Send(events.OfDiagnostic(d))
	}
	if !r.json {
		r.printer(e).Diagnostics(list)
	}
}

// printer returns a printer to stderr.
func (r *runContext) printer(e Env) terminal.Printer {
	return terminal.Printer{Out: e.Stderr, Hide: r.secrets.Hide, Color: e.ErrColor && e.wantsColor()}
}

// finish ends the records and the events, and returns the exit code: a result that could
// not be written is an error for commands that only report.
func (r *runContext) finish(e Env, code int) int {
	status := r.status
	switch {
	case status != "" && status.ExitCode() == code:
	case code == exitDone, code == exitChanges, code == exitDrift:
		status = apply.OK
	case code == exitInterrupted:
		status = apply.Interrupted
	default:
		status = apply.Error
	}
	if r.recorder != nil {
		if err := r.recorder.Finish(runs.Status(status), code, time.Now()); err != nil {
			d := diag.Warningf("Records are not complete", "Inputs and answers of images could not be recorded: %s.", err)
			r.diagnostics(e, d)
		}
	}
	r.stream.Send(events.OfEnd(status, code, time.Since(r.run.Started)))
	close(r.ready)
	problems := r.stream.Close(readerPatience, e.Abort)
	p := terminal.Printer{Out: e.Stderr, Hide: r.secrets.Hide} // the events have ended
	if r.recorder != nil {
		if err := r.recorder.Close(); err != nil {
			p.Diagnostic(diag.Warningf("Records may hold a secret", "A secret that was discovered late could not be removed from the "+
				"events of this run: %s.", err))
		}
	}
	if err := problems["file"]; err != nil {
		p.Diagnostic(diag.Warningf("The events are not complete", "-json-into=%s: %s.", r.into, err))
	}
	if err := problems["stdout"]; err != nil {
		p.Diagnostic(diag.Errorf("The events are not complete", "They could not be written to stdout: %s.", err))
		if code == exitDone && (r.run.Command == "plan" || r.run.Command == "drift") {
			return exitError // the command only reports
		}
	}
	return code
}
