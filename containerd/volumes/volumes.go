package volumes

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"deployster/containerd/layout"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// Root returns the directory of the volumes of the clients of a run-time directory: a
// data directory may have clients of several daemons.
func Root(c layout.Config) string {
	return filepath.Join(c.Volumes(), filepath.Base(c.RuntimeDir))
}

// Dir returns the directory of the volumes of a container.
func Dir(root, container string) string {
	return filepath.Join(root, layout.ClientOf(container), container)
}

// Set is the set of volumes of a run. The zero value has none.
type Set struct {
	dir    string
	list   []runner.Volume
	answer *runner.Answer
}

// New returns the volumes of a run. It creates no directories yet.
func New(root, container string, s runner.Spec) Set {
	v := Set{list: s.Volumes, answer: s.Answer}
	if len(v.list) > 0 || v.answer != nil {
		v.dir = Dir(root, container)
	}
	return v
}

func (v *Set) volume(n int) string { return filepath.Join(v.dir, fmt.Sprint(n)) }
func (v *Set) answerDir() string   { return filepath.Join(v.dir, "answer") }
func (v *Set) answerName() string  { return path.Base(v.answer.Target) }

// Mounts returns the mounts of the volumes in the container.
func (v *Set) Mounts() (list []runner.Mount) {
	for n, one := range v.list {
		list = append(list, runner.Mount{Source: v.volume(n), Target: one.Target, Writable: true, Own: true})
	}
	if v.answer != nil {
		list = append(list, runner.Mount{Source: v.answerDir(), Target: path.Dir(v.answer.Target), Writable: true, Own: true})
	}
	return list
}

// Dirs returns the directories that the program fills.
func (v *Set) Dirs() (list []string) {
	for _, m := range v.Mounts() {
		list = append(list, m.Source)
	}
	return list
}

// Make creates the volumes, for a user by this host's ids. If it fails, it removes them
// again.
func (v *Set) Make(uid, gid int) (err error) {
	if v.dir == "" {
		return nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, v.Remove())
		}
	}()
	err = makeAll(v.dir)
	for _, dir := range v.Dirs() {
		if err := errors.Join(err, os.Mkdir(dir, 0o755), os.Chown(dir, uid, gid)); err != nil {
			return diag.Because(err, "A container cannot get a directory of its own",
				"%s. The data directory must be one that root can write, with room on its disk.", diag.Visible(err.Error()))
		}
	}
	for n, one := range v.list {
		if one.Fill == nil {
			continue
		}
		if err := one.Fill(v.volume(n)); err != nil {
			return err
		}
	}
	return nil
}

// makeAll creates the directory of the volumes of a container. The end of another container of the same client may remove that
// of the client meanwhile, since it is still empty: then it is created again.
func makeAll(dir string) (err error) {
	for range 100 {
		if err = os.MkdirAll(dir, 0o700); !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return err
}

// Take passes the volumes to their Take functions.
func (v *Set) Take() error {
	for n, one := range v.list {
		if one.Take == nil {
			continue
		}
		if err := one.Take(v.volume(n)); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes the volumes, if they still exist.
func (v *Set) Remove() error {
	if v.dir == "" {
		return nil
	}
	return remove(v.dir)
}

// RemoveOf removes the volumes of a container, if it has any.
func RemoveOf(root, container string) error { return remove(Dir(root, container)) }

// remove removes the volumes of a container, and the directory of its client if that is empty then.
func remove(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(dir)) // on failure it has other volumes
	return nil
}

// Sweep removes the volumes of clients that no longer exist.
func Sweep(root string, gone func(client string) bool) error {
	entries, err := os.ReadDir(root)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		if gone(e.Name()) {
			errs = append(errs, os.RemoveAll(filepath.Join(root, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// noteFile is a file next to the standard files of an action: it reports where the answer will be.
const noteFile = "answer"

// note is the content of noteFile.
type note struct {
	Dir  string `json:"dir"`
	Name string `json:"name"`
	Max  int64  `json:"max"`
}

// Note records, in the directory of a run's standard files, where the answer will be: for
// whoever finds out how an action ended if its client was killed.
func (v *Set) Note(files string) error {
	if v.answer == nil {
		return nil
	}
	b, err := json.Marshal(note{v.answerDir(), v.answerName(), v.answer.Max})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(files, noteFile), b, 0o600)
}

// Noted adds the answer to the result of an action whose client was killed.
func Noted(files string, r *runner.Result) error {
	b, err := os.ReadFile(filepath.Join(files, noteFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var n note
	if err := errors.Join(err, json.Unmarshal(b, &n)); err != nil {
		return err
	}
	return keep(n, r)
}

// Keep adds the answer to the result of an action.
func (v *Set) Keep(r *runner.Result) error {
	if v.answer == nil {
		return nil
	}
	return keep(note{v.answerDir(), v.answerName(), v.answer.Max}, r)
}

func keep(n note, r *runner.Result) error {
	content, err := readAll(n)
	if fault, ok := errors.AsType[*runner.AnswerError](err); ok {
		r.Fault = fault.Reason
		return nil
	}
	r.Answer = slices.Clip(content)
	return err
}
