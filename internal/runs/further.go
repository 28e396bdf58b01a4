package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"deployster/internal/base/encryption"
	"deployster/internal/runner/typeclient"
)

// furtherMost is how long what a program was sent or printed may be, in bytes,
// to stand in a line of furtherName.
const furtherMost = 64 << 10

// further is a line of furtherName.
type further struct {
	Step
	Stdin  string `json:"stdin,omitempty"`
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
}

// text returns one of the files that it stands for.
func (f *further) text(name string) string {
	switch name {
	case Stdin:
		return f.Stdin
	case Stdout:
		return f.Stdout
	}
	return f.Stderr
}

// fits reports whether an invocation can be a line: one that failed is looked for
// among the files, and not everything is text.
func fits(i typeclient.Invocation) bool {
	if i.Err != nil || i.Result.ExitCode != 0 {
		return false
	}
	for _, text := range [][]byte{i.Stdin, i.Result.Stdout, i.Result.Stderr} {
		if len(text) > furtherMost || !utf8.Valid(text) {
			return false
		}
	}
	return true
}

// addFurther records an invocation as a line: in a large run making four files
// for each would be most of what it does. Those with a directory may get files
// yet.
func (r *Recorder) addFurther(dir string, step Step, files map[string][]byte) {
	line, err := json.Marshal(further{step, string(files[Stdin]), string(files[Stdout]), string(files[Stderr])})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.further == nil {
		r.further, err = r.newFurther()
	}
	if err == nil {
		_, err = r.further.Write(append(line, '\n'))
		r.run.Bytes += int64(len(line)) + 1
		r.keepEarly(early{dir, step, files, int64(len(line)) + 1})
	}
	r.note(err)
}

func (r *Recorder) newFurther() (io.WriteCloser, error) {
	f, err := os.OpenFile(filepath.Join(r.dir, furtherName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return r.o.Keys.Lines(encryption.Record, f)
}

// furtherSteps reads the invocations that are lines; of one resource only, unless
// that is "".
func (r Run) furtherSteps(resource string) ([]Step, error) {
	path := filepath.Join(r.dir, furtherName)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		content, err = r.keys.OpenLines(encryption.Record, path, content)
	}
	if err != nil {
		return nil, err
	}
	var steps []Step
	for line := range bytes.Lines(content) {
		var f further
		if json.Unmarshal(line, &f) != nil || resource != "" && f.Resource != resource {
			continue // the last one was being written when the machine went down
		}
		f.dir, f.Step.further = path, &f
		steps = append(steps, f.Step)
	}
	return steps, nil
}
