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

	"deployster/internal/base/durable"
	"deployster/internal/base/encryption"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
	"deployster/state/actions"
)

// Options are the inputs of a Recorder.
type Options struct {
	Workdir string // absolute; the records are below it
	Run     Run    // ID, Command, Deployster and Started are set
	// Hide returns the function that removes the secrets known now from a text; nil = there are none.
	Hide func() func(text string) string
	// Known returns how many secrets were known so far: the records are cleaned of those that
	// became known after something was recorded. nil = all are known from the beginning.
	Known func() int
	// Keys encrypt the files of the records, except run.json; nil = no encryption.
	Keys *encryption.Keyring
}

// Recorder writes the records of one run. It is safe for concurrent use.
type Recorder struct {
	o        Options
	dir      string
	started  chan struct{} // closed with the first record
	finished chan struct{}

	mu      sync.Mutex
	lock    *os.File // the run's directory, locked during the run; nil = not begun, or cannot be opened
	run     Run
	used    map[string]bool // directories below dir
	lines   io.WriteCloser  // see addLine; nil = there are none
	err     error           // the first one
	pending []pendingStep   // nil = there are none, or too many

	written   map[string][]string // by resource: the directories of its invocations
	knew      map[string]int      // by resource: how many secrets were known at its last record
	knewFirst int                 // the same for the first record of all
}

// New returns the recorder of one run. It writes nothing before the first record.
func New(o Options) *Recorder {
	o.Run.Format, o.Run.Status = Format, Running
	return &Recorder{o: o, dir: filepath.Join(Dir(o.Workdir), o.Run.ID), run: o.Run,
		started: make(chan struct{}), finished: make(chan struct{}), used: map[string]bool{},
		written: map[string][]string{}, knew: map[string]int{}}
}

// Applies names the plan that the run applies, the ids of the keys that signed it, and who overrides policies.
func (r *Recorder) Applies(plan string, signedBy []string, overrides []actions.Override) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.run.Plan, r.run.SignedBy, r.run.Overrides = plan, signedBy, overrides
	if r.hasStarted() {
		r.addError(r.writeRun())
	}
}

// Begin creates the directory of the run, if it does not exist yet, and points `latest`
// to it.
func (r *Recorder) Begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hasStarted() {
		return
	}
	defer close(r.started)
	r.knewFirst = r.known()
	runs := filepath.Dir(r.dir)
	err := os.MkdirAll(filepath.Dir(runs), 0o755) // others may read the directory above
	if err == nil {
		err = os.MkdirAll(r.dir, 0o700)
	}
	if err == nil {
		if r.lock, err = os.Open(r.dir); err == nil {
			// Without locks the newest runs are kept anyway.
			_ = syscall.Flock(int(r.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		}
	}
	if err == nil {
		err = ignore(filepath.Dir(runs))
	}
	r.addError(err)
	if r.addError(r.writeRun()); r.run.Command == Watch {
		return // `latest` is the latest run that a person started
	}
	link := filepath.Join(runs, latestName)
	temp := link + "." + r.run.ID
	r.addError(errors.Join(os.Symlink(r.run.ID, temp), os.Rename(temp, link)))
}

func (r *Recorder) hasStarted() bool {
	select {
	case <-r.started:
		return true
	default:
		return false
	}
}

// ignore keeps the records out of version control: they belong to one machine.
func ignore(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
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
	dir, keep := r.directory(i)
	if !keep {
		return
	}
	step, files := r.redact(i)
	if dir == "" || isQuery(i) && fitsLine(i) {
		r.addLine(dir, step, files)
		r.cleanResource(i.Address, "")
		return
	}
	r.addFiles(dir, step, files)
	r.cleanResource(i.Address, dir)
}

func (r *Recorder) addFiles(dir string, step Step, files map[string][]byte) {
	written, err := r.writeFiles(dir, step, files)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.run.Bytes += written
	r.addError(err)
}

// writeFiles writes the files of an invocation, and returns their size in bytes. The
// metadata is the last: an invocation without it was interrupted, and is not listed.
func (r *Recorder) writeFiles(dir string, step Step, files map[string][]byte) (written int64, err error) {
	meta, err := json.Marshal(step)
	files[metaName] = append(meta, '\n')
	err = errors.Join(err, os.MkdirAll(dir, 0o700))
	for _, name := range [...]string{Stdin, Stdout, Stderr, metaName} {
		if content, ok := files[name]; ok && err == nil {
			err = r.write(filepath.Join(dir, name), content)
			written += int64(len(content))
		}
	}
	return written, err
}

// redact returns the record of an invocation, without secrets.
func (r *Recorder) redact(i typeclient.Invocation) (Step, map[string][]byte) {
	hide := r.o.Hide()
	hideAll := func(text []byte) []byte { return []byte(hide(string(text))) }
	hideIn := func(message []byte) []byte { return hideJSON(message, hide) }
	if hide == nil {
		hide = func(text string) string { return text }
		hideAll = func(text []byte) []byte { return text }
		hideIn = hideAll
	}
	step := Step{Format: Format, Resource: i.Address, Host: i.Host, Pod: i.Result.Pod, Step: hide(i.Step), Image: i.Digest,
		Started: i.Started.UTC(),
		Took:    i.Result.Duration.Round(time.Millisecond).Seconds()}
	if i.Err == nil {
		step.ExitCode = &i.Result.ExitCode
	} else {
		step.Problem = hide(i.Err.Error())
	}
	files := map[string][]byte{Stdout: hideIn(i.Result.Stdout), Stderr: hideAll(i.Result.Stderr)}
	if i.Stdin != nil { // the stdin of an adopted action is in the run that started it
		files[Stdin] = hideIn(i.Stdin)
	}
	return step, files
}

// directory returns the directory for an invocation, "" if it gets only a line, or
// false if it is not recorded.
func (r *Recorder) directory(i typeclient.Invocation) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.run.Recorded >= KeepAll && isTrivial(i) {
		r.run.LeftOut++
		return "", false
	}
	r.run.Recorded++
	if fitsLine(i) && (r.run.Recorded > KeepAll || r.run.Recorded > KeepFiles && isQuery(i)) {
		return "", true
	}
	base := filepath.Join(fileName(i.Address), fileName(i.Step))
	name := base
	for n := 2; r.used[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	r.used[name] = true
	return filepath.Join(r.dir, name), true
}

// isTrivial reports whether the record of an invocation would help nobody: a state query that
// was VALID, or an action that succeeded, as the state query after it shows; both without a log.
func isTrivial(i typeclient.Invocation) bool {
	if i.Err != nil || i.Result.ExitCode != 0 || len(i.Result.Stderr) > 0 || i.Step == typeclient.StepInit {
		return false
	}
	if i.Step != typeclient.StepState {
		return len(i.Result.Stdout) == 0
	}
	answer, err := jsondoc.Object(i.Result.Stdout)
	return err == nil && jsondoc.Text(answer["status"]) == string(protocol.Valid)
}

// messageKeys are the keys in the messages to images and in their answers. They stay, even if a secret has
// the same text.
var messageKeys = []string{"name", "type", "version", "verbose", "workspace", "protocol", "min", "max", "config", "intent",
	"last_state", "dependencies", "state", "status", "actions", "properties", "action", "staleState", "idempotency_key", "reasons", "path",
	"have", "want", "message", "description", "args", "forecast", "unknown", "error", "class", "memory", "after"}

// hideJSON removes the secrets from a message of the protocol. The result is valid JSON if the message is.
func hideJSON(message []byte, hide func(string) string) []byte {
	if !json.Valid(message) {
		return []byte(hide(string(message)))
	}
	return jsondoc.Rewrite(message, func(text string, at jsondoc.Place) string {
		if at.Key && slices.Contains(messageKeys, text) || at.Number && len(at.Path) > 0 && at.Path[0] == "protocol" {
			return text
		}
		return hide(text)
	})
}

// Report records the report of an apply.
func (r *Recorder) Report(content []byte) {
	r.Begin()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addError(r.write(filepath.Join(r.dir, reportName), content))
}

// Events waits until the run has begun, and opens the file for its events. It returns
// nil if the run ends without having begun.
func (r *Recorder) Events() (io.WriteCloser, error) {
	select {
	case <-r.started:
	case <-r.finished:
		if !r.hasStarted() {
			return nil, nil
		}
	}
	f, err := os.OpenFile(filepath.Join(r.dir, eventsName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return r.o.Keys.Lines(encryption.Record, f)
}

// write writes a file of the records, encrypted if there are keys.
func (r *Recorder) write(path string, content []byte) error {
	content, err := r.o.Keys.Encrypt(encryption.Record, content)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// Finish records how the run ended, and removes old runs. It returns the first error of
// all recording. The caller calls it once.
func (r *Recorder) Finish(status Status, exit int, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.finished)
	if !r.hasStarted() {
		return nil
	}
	if r.lines != nil {
		r.addError(r.lines.Close())
		r.addError(r.writePending())
	}
	r.cleanAll()
	ended := now.UTC()
	r.run.Status, r.run.ExitCode, r.run.Ended = status, &exit, &ended
	r.addError(r.writeRun())
	r.addError(prune(filepath.Dir(r.dir), r.run))
	if r.err != nil {
		return fmt.Errorf("%s: %w", filepath.Dir(r.dir), r.err)
	}
	return nil
}

// Close cleans the events, which must have ended, and unlocks the run: other commands may
// remove it now.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.hasStarted() && r.known() != r.knewFirst {
		err = r.cleanLines(eventsName)
	}
	if r.lock != nil {
		_ = r.lock.Close() // nothing was written to it
		r.lock = nil
	}
	return err
}

// writeRun replaces run.json. Like all records it is not synced: a run without run.json
// still counts as a run, and with syncs a small plan would wait for the disk four times.
func (r *Recorder) writeRun() error {
	content, err := json.Marshal(r.run)
	if err != nil {
		return err
	}
	return durable.WriteUnsynced(filepath.Join(r.dir, runName), append(content, '\n'), 0o600)
}

func (r *Recorder) addError(err error) {
	if r.err == nil {
		r.err = err
	}
}
