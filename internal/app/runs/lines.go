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
	"deployster/internal/runtime/runner/typeclient"
)

// maxLineText is the limit of each stream of an invocation that is recorded as a line, in bytes.
const maxLineText = 64 << 10

// stepLine is a line of the file linesName.
type stepLine struct {
	Step
	Stdin  string `json:"stdin,omitempty"`
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
}

// text returns the content of one of the files that the line replaces.
func (f *stepLine) text(name string) string {
	switch name {
	case Stdin:
		return f.Stdin
	case Stdout:
		return f.Stdout
	}
	return f.Stderr
}

// fitsLine reports whether an invocation may be recorded as a line. Failed ones get files,
// where people search for them, and so do those whose content is too large or is not text.
func fitsLine(i typeclient.Invocation) bool {
	if i.Err != nil || i.Result.ExitCode != 0 {
		return false
	}
	for _, text := range [][]byte{i.Stdin, i.Result.Stdout, i.Result.Stderr} {
		if len(text) > maxLineText || !utf8.Valid(text) {
			return false
		}
	}
	return true
}

// addLine records an invocation as a line: writing four files for each would take most
// of the time of a large run. An invocation with a directory may still get files.
func (r *Recorder) addLine(dir string, step Step, files map[string][]byte) {
	line, err := json.Marshal(stepLine{step, string(files[Stdin]), string(files[Stdout]), string(files[Stderr])})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.lines == nil {
		r.lines, err = r.createLines()
	}
	if err == nil {
		_, err = r.lines.Write(append(line, '\n'))
		r.run.Bytes += int64(len(line)) + 1
		r.addPending(pendingStep{dir, step, files, int64(len(line)) + 1})
	}
	r.addError(err)
}

func (r *Recorder) createLines() (io.WriteCloser, error) {
	f, err := os.OpenFile(filepath.Join(r.dir, linesName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return r.o.Keys.Lines(encryption.Record, f)
}

// lineSteps returns the invocations that were recorded as lines: those of one resource,
// or all for "".
func (r Run) lineSteps(resource string) ([]Step, error) {
	path := filepath.Join(r.dir, linesName)
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
		var f stepLine
		if json.Unmarshal(line, &f) != nil || resource != "" && f.Resource != resource {
			continue // a crash cut the last line
		}
		f.dir, f.Step.line = path, &f
		steps = append(steps, f.Step)
	}
	return steps, nil
}
