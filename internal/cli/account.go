package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/apply"
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

// account is how one run of the tool gives account to programs: by its events,
// and by the records that it keeps. It is there before the command line is
// understood and until the exit code is known, so that both begin and end in
// every case.
type account struct {
	run      runs.Run
	vault    *vault // what must never be shown
	stream   *events.Stream
	json     bool   // stdout has the events, and nothing else
	into     string // a file has them too; "" = none
	recorder *runs.Recorder
	ready    chan *runs.Recorder // passes it on to the reader that records the events
}

// streaming are the commands that tell events.
var streaming = []string{"plan", "apply", "destroy", "drift"}

// eventFlags belong to those commands.
func eventFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "json", Usage: "print events as JSON, one a line, and nothing else on stdout"},
		&cli.StringFlag{Name: "json-into", Usage: "write these events to `FILE` too, which may be a FIFO or /dev/fd/3"},
	}
}

// newAccount looks at the command line by itself: the events tell of its
// mistakes too.
func newAccount(e Env, app *cli.App) (*account, error) {
	a := &account{vault: &vault{}, ready: make(chan *runs.Recorder, 1),
		run: runs.Run{ID: runs.NewID(time.Now()), Deployster: Version, Started: time.Now().UTC()}}
	a.stream = events.NewStream(a.vault.hiding, time.Now)
	command, values := glance(app, e.Args)
	a.run.Command = command
	if !slices.Contains(streaming, command) {
		return a, nil
	}
	a.json, _ = strconv.ParseBool(values["json"]) // what is no bool is an error of the command line, later
	a.stream.To("records", a.recordEvents, events.Limits{Waiting: 8 << 20, Most: 64 << 20, Logs: recordedLogs})
	if a.json {
		a.stream.To("stdout", events.WithoutClose(e.Stdout), events.DefaultLimits())
	}
	into, err := values["json-into"], error(nil)
	if into != "" {
		path := into
		if !filepath.IsAbs(path) {
			path = filepath.Join(e.path(values["chdir"]), into)
		}
		if err = a.writeInto(path); err == nil {
			a.into = into
		} else {
			err = diag.Errorf("Cannot write the events", "-json-into=%s: %s. Nothing was changed.", into, err)
		}
	}
	a.stream.Send(events.Event{Level: events.Info, Message: fmt.Sprintf("deployster %s %s", Version, command),
		Body: events.Version{Format: events.Format, Deployster: Version, Command: command, Run: a.run.ID}})
	return a, err
}

// glance finds the command of a command line, and the values of its flags as
// far as they can be read from it.
func glance(app *cli.App, args []string) (command string, values map[string]string) {
	values = map[string]string{}
	known := slices.Concat(app.Flags, eventFlags())
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		if !strings.HasPrefix(args[i], "-") {
			if command == "" {
				command = args[i]
				if c := find(app.Commands, command); c != nil {
					known = slices.Concat(known, c.Flags)
				}
			}
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		flag := lookup(known, name)
		if _, isBool := flag.(*cli.BoolFlag); isBool && !given {
			value = "true"
		} else if flag != nil && !given && i+1 < len(args) {
			i++
			value = args[i]
		}
		values[name] = value
	}
	return command, values
}

// writeInto adds a file of the user's to those who get the events.
func (a *account) writeInto(path string) error {
	for _, ending := range []string{".hcl", ".hcl.json", ".state.json"} {
		if strings.HasSuffix(path, ending) {
			return fmt.Errorf("its name is that of a manifest or of a state file, which it would replace")
		}
	}
	open, err := events.OpenFile(path)
	if err == nil {
		a.stream.To("file", open, events.DefaultLimits())
	}
	return err
}

// recordEvents waits for the records, which begin when there is something to
// keep.
func (a *account) recordEvents(<-chan struct{}) (io.WriteCloser, error) {
	recorder := <-a.ready
	if recorder == nil {
		return nil, nil
	}
	return recorder.Events()
}

// record gives the records, which begin below a working directory when it is
// called for the first time.
func (a *account) record(workdir string, keys *encryption.Keyring) *runs.Recorder {
	if a.recorder != nil {
		return a.recorder
	}
	a.recorder = runs.New(runs.Options{Workdir: workdir, Run: a.run, Hide: a.vault.hiding, Keys: keys})
	a.ready <- a.recorder
	return a.recorder
}

// diagnostic sends an error or a warning to programs.
func (a *account) Diagnostic(d *diag.Diagnostic) { a.stream.Send(events.OfDiagnostic(d)) }

// finish ends the records and the events, and gives the exit code: a result
// that nobody got was not delivered.
func (a *account) finish(e Env, code int) int {
	status := apply.Error
	switch code {
	case exitDone, exitChanges, exitDrift:
		status = apply.OK
	case exitInterrupted:
		status = apply.Interrupted
	}
	if a.recorder != nil {
		if err := a.recorder.Finish(runs.Status(status), code, time.Now()); err != nil {
			d := diag.Warningf("Records are not complete", "What the images were sent and what they answered could not be kept: %s.", err)
			e.stderr(e.Stderr).Diagnostic(d)
		}
	}
	a.stream.Send(events.OfEnd(status, code, time.Since(a.run.Started)))
	close(a.ready)
	problems := a.stream.Close(readerPatience, e.Abort)
	if a.recorder != nil {
		a.recorder.Close()
	}
	p := terminal.Printer{Out: e.Stderr, Hide: a.vault.hide} // there are no events any more
	if err := problems["file"]; err != nil {
		p.Diagnostic(diag.Warningf("The events are not complete", "-json-into=%s: %s.", a.into, err))
	}
	if err := problems["stdout"]; err != nil {
		p.Diagnostic(diag.Errorf("The events are not complete", "They could not be written to stdout: %s.", err))
		if code == exitDone && (a.run.Command == "plan" || a.run.Command == "drift") {
			return exitError // there was nothing else to do than to tell
		}
	}
	return code
}
