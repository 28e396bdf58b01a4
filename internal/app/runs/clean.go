package runs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deployster/internal/base/encryption"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
)

// A secret may be recorded before anybody knows that it is one: the action that generates a
// password prints it, and the next answer of its type marks it. The records of that resource
// are cleaned then, and all others at the end of the run.

// known returns how many secrets were known so far.
func (r *Recorder) known() int {
	if r.o.Known == nil {
		return 0
	}
	return r.o.Known()
}

// cleanResource cleans the records of a resource if secrets became known since the last of
// them was written.
func (r *Recorder) cleanResource(address string, dir string) {
	now := r.known()
	r.mu.Lock()
	defer r.mu.Unlock()
	dirs := r.written[address]
	if before, there := r.knew[address]; there && before != now {
		for _, one := range dirs {
			r.addError(r.cleanFiles(one))
		}
	}
	if r.knew[address] = now; dir != "" {
		r.written[address] = append(dirs, dir)
	}
}

// cleanAll cleans the files of all records if secrets became known since the first. The
// caller must hold the lock, and the file of the lines is closed.
func (r *Recorder) cleanAll() {
	if r.known() == r.knewFirst {
		return
	}
	for _, dirs := range r.written {
		for _, one := range dirs {
			r.addError(r.cleanFiles(one))
		}
	}
	r.addError(r.cleanLines(linesName))
	r.addError(r.clean(filepath.Join(r.dir, reportName), hideRecord))
}

// cleanFiles cleans the files of an invocation.
func (r *Recorder) cleanFiles(dir string) error {
	var failed error
	for _, name := range []string{Stdin, Stdout, Stderr} {
		failed = errors.Join(failed, r.clean(filepath.Join(dir, name), hideJSON))
	}
	return errors.Join(failed, r.clean(filepath.Join(dir, metaName), hideRecord))
}

// clean hides the secrets known now in a file, if there are any.
func (r *Recorder) clean(path string, hideIn func([]byte, func(string) string) []byte) error {
	hide := r.o.Hide()
	content, err := readFile(r.o.Keys, path)
	if errors.Is(err, fs.ErrNotExist) || hide == nil {
		return nil
	}
	if err != nil {
		return err
	}
	if !mayHold(content, hide) {
		return nil
	}
	after := hideIn(content, hide)
	if bytes.Equal(after, content) {
		return nil
	}
	r.run.Bytes += int64(len(after) - len(content))
	return r.write(path, after)
}

// cleanLines hides the secrets known now in a file of lines that nobody writes to any more.
func (r *Recorder) cleanLines(name string) error {
	path, hide := filepath.Join(r.dir, name), r.o.Hide()
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || hide == nil {
		return nil
	}
	if err == nil {
		content, err = r.o.Keys.OpenLines(encryption.Record, path, content)
	}
	if err != nil {
		return err
	}
	var after []byte
	for line := range bytes.Lines(content) {
		if mayHold(line, hide) {
			line = hideRecord(line, hide)
		}
		after = append(after, line...)
	}
	if bytes.Equal(after, content) {
		return nil
	}
	temp := path + ".clean"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	var w io.WriteCloser
	if w, err = r.o.Keys.Lines(encryption.Record, f); err != nil {
		return errors.Join(err, f.Close())
	}
	for line := range bytes.Lines(after) {
		_, failed := w.Write(line)
		err = errors.Join(err, failed)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	r.run.Bytes += int64(len(after) - len(content))
	return os.Rename(temp, path)
}

// mayHold reports whether a secret may be in the texts of a JSON document. Few documents have
// one, and this is faster than to read them. Escapes may hide each form of a secret.
func mayHold(content []byte, hide func(string) string) bool {
	text := string(content)
	return strings.Contains(text, `\`) || hide(text) != text
}

// hideRecord hides secrets in a record of deployster's own, whose keys, numbers and words stay.
func hideRecord(line []byte, hide func(string) string) []byte {
	return jsondoc.Rewrite(line, func(text string, at jsondoc.Place) string {
		under := ""
		if len(at.Path) == 1 {
			under = at.Path[0]
		}
		word := slices.Contains([]string{"type", "time", "level", "run", "command", "stream", "status", "started"}, under)
		if at.Key || at.Number || word || len(text) < secret.MinEmbedded {
			return text
		}
		if under == "stdin" || under == "stdout" {
			return string(hideJSON([]byte(text), hide))
		}
		return hide(text)
	})
}
