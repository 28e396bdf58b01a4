package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"deployster/internal/base/encryption"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runner/typeclient"
	"deployster/protocol"
)

// Options are what a Recorder needs to know.
type Options struct {
	Workdir string // absolute; the records are below it
	Run     Run    // ID, Command, Deployster and Started are set
	// Hide gives what takes secrets out of a text, as they are known now; nil =
	// none are.
	Hide func() func(text string) string
	// Keys seal the files of the records, but for run.json; nil = in clear text.
	Keys *encryption.Keyring
}

// Recorder writes the records of one run. It may be used from many goroutines.
type Recorder struct {
	o     Options
	dir   string
	begun chan struct{} // closed with the first thing that is worth a record
	over  chan struct{} // closed when nothing more comes

	mu      sync.Mutex
	lock    *os.File // the run's directory, locked while the run goes on; nil = not begun, or no locks here
	run     Run
	taken   map[string]bool // directories below dir that have their owner
	further io.WriteCloser  // see addFurther; nil = there is none yet
	first   error           // the first thing that could not be written
	early   []early         // nil from the moment on when there are too many
}

// New prepares the records of one run. Nothing is written before there is
// something to say.
func New(o Options) *Recorder {
	o.Run.Format, o.Run.Status = Format, Running
	return &Recorder{o: o, dir: filepath.Join(Dir(o.Workdir), o.Run.ID), run: o.Run,
		begun: make(chan struct{}), over: make(chan struct{}), taken: map[string]bool{}}
}

// Begin makes the directory of the run, if it is not there yet, and points
// `latest` to it.
func (r *Recorder) Begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hasBegun() {
		return
	}
	defer close(r.begun)
	runs := filepath.Dir(r.dir)
	err := os.MkdirAll(r.dir, 0o700)
	if err == nil {
		if r.lock, err = os.Open(r.dir); err == nil {
			// Where there are no locks the newest runs are kept all the same.
			_ = syscall.Flock(int(r.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		}
	}
	if err == nil {
		err = ignored(filepath.Dir(runs))
	}
	link := filepath.Join(runs, latestName)
	temp := link + "." + r.run.ID
	r.note(errors.Join(err, r.writeRun(), os.Symlink(r.run.ID, temp), os.Rename(temp, link)))
}

func (r *Recorder) hasBegun() bool {
	select {
	case <-r.begun:
		return true
	default:
		return false
	}
}

// ignored keeps version control away from records: they belong to one machine.
func ignored(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}

// Add records one invocation.
func (r *Recorder) Add(i typeclient.Invocation) {
	r.Begin()
	dir, keep := r.place(i)
	if !keep {
		return
	}
	step, files := r.told(i)
	if dir == "" || asks(i) && fits(i) {
		r.addFurther(dir, step, files)
		return
	}
	written, err := r.writeFiles(dir, step, files)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.run.Bytes += written
	r.note(err)
}

// writeFiles makes the files of an invocation, and says how many bytes they hold.
func (r *Recorder) writeFiles(dir string, step Step, files map[string][]byte) (written int64, err error) {
	meta, err := json.Marshal(step)
	files[metaName] = append(meta, '\n')
	err = errors.Join(err, os.MkdirAll(dir, 0o700))
	for name, content := range files {
		if err == nil {
			err = r.write(filepath.Join(dir, name), content)
			written += int64(len(content))
		}
	}
	return written, err
}

// told returns what is kept of an invocation: without secrets.
func (r *Recorder) told(i typeclient.Invocation) (Step, map[string][]byte) {
	hide := r.o.Hide()
	hideAll := func(text []byte) []byte { return []byte(hide(string(text))) }
	hideIn := func(message []byte) []byte { return hideJSON(message, hide) }
	if hide == nil {
		hide = func(text string) string { return text }
		hideAll = func(text []byte) []byte { return text }
		hideIn = hideAll
	}
	step := Step{Format: Format, Resource: i.Address, Step: hide(i.Step), Image: i.Digest, Started: i.Started.UTC(), Took: i.Result.Duration.Round(time.Millisecond).Seconds()}
	if i.Err == nil {
		step.ExitCode = &i.Result.ExitCode
	} else {
		step.Problem = hide(i.Err.Error())
	}
	files := map[string][]byte{Stdout: hideAll(i.Result.Stdout), Stderr: hideAll(i.Result.Stderr)}
	if i.Stdin != nil { // that of an adopted action is with the run that started it
		files[Stdin] = hideIn(i.Stdin)
	}
	return step, files
}

// place returns a directory for an invocation, or says that it is not kept; "" is
// a line among many.
func (r *Recorder) place(i typeclient.Invocation) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.run.Recorded >= KeepAll && dull(i) {
		r.run.LeftOut++
		return "", false
	}
	r.run.Recorded++
	if fits(i) && (r.run.Recorded > KeepAll || r.run.Recorded > KeepFiles && asks(i)) {
		return "", true
	}
	base := filepath.Join(fileName(i.Address), fileName(i.Step))
	name := base
	for n := 2; r.taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	r.taken[name] = true
	return filepath.Join(r.dir, name), true
}

// dull reports whether an invocation tells nobody anything: all is well, and, if it
// was an action, the state after it says so.
func dull(i typeclient.Invocation) bool {
	if i.Err != nil || i.Result.ExitCode != 0 || len(i.Result.Stderr) > 0 || i.Step == typeclient.StepInit {
		return false
	}
	if i.Step != typeclient.StepState {
		return len(i.Result.Stdout) == 0
	}
	valid := false
	return jsondoc.Members(i.Result.Stdout, func(key string, value json.RawMessage) {
		valid = valid || key == "status" && jsondoc.Text(value) == string(protocol.Valid)
	}) && valid
}

// messageKeys are what the messages to images are made of; a secret may have the
// same letters.
var messageKeys = []string{"name", "type", "version", "verbose", "workspace", "protocol", "min", "max", "config", "intent",
	"last_state", "dependencies", "state", "status", "actions", "properties", "action", "staleState", "idempotency_key"}

// hideJSON takes the secrets out of a message of the protocol, which stays one.
func hideJSON(message []byte, hide func(string) string) []byte {
	if !json.Valid(message) {
		return []byte(hide(string(message)))
	}
	return jsondoc.Rewrite(message, func(text string, at jsondoc.Place) string {
		if at.Key && slices.Contains(messageKeys, text) {
			return text
		}
		return hide(text)
	})
}

// Report keeps the report of an apply.
func (r *Recorder) Report(content []byte) {
	r.Begin()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(r.write(filepath.Join(r.dir, reportName), content))
}

// Events waits until the run has begun, and opens the file for its events. It
// is nil when the run ends without having begun.
func (r *Recorder) Events() (io.WriteCloser, error) {
	select {
	case <-r.begun:
	case <-r.over:
		if !r.hasBegun() {
			return nil, nil
		}
	}
	f, err := os.OpenFile(filepath.Join(r.dir, eventsName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return r.o.Keys.Lines(encryption.Record, f)
}

// write writes a file of the records, encrypted where that is wanted.
func (r *Recorder) write(path string, content []byte) error {
	content, err := r.o.Keys.Seal(encryption.Record, content)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// Finish says how the run ended, and removes old runs. The error is the first
// thing that could not be recorded. It is called once.
func (r *Recorder) Finish(status Status, exit int, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.over)
	if !r.hasBegun() {
		return nil
	}
	if r.further != nil {
		r.note(r.further.Close())
		r.note(r.settleEarly())
	}
	ended := now.UTC()
	r.run.Status, r.run.ExitCode, r.run.Ended = status, &exit, &ended
	r.note(r.writeRun())
	r.note(prune(filepath.Dir(r.dir), r.run))
	if r.first != nil {
		return fmt.Errorf("%s: %w", filepath.Dir(r.dir), r.first)
	}
	return nil
}

// Close lets go of the run. Others may remove it from now on.
func (r *Recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lock != nil {
		_ = r.lock.Close() // it was only held
		r.lock = nil
	}
}

// writeRun replaces run.json. It is not synced, as no record is: a run without
// one is a run all the same, and a small plan would wait for the disk four times.
func (r *Recorder) writeRun() error {
	content, err := json.Marshal(r.run)
	if err != nil {
		return err
	}
	temp := filepath.Join(r.dir, "."+runName)
	if err := os.WriteFile(temp, append(content, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(r.dir, runName))
}

func (r *Recorder) note(err error) {
	if r.first == nil {
		r.first = err
	}
}
