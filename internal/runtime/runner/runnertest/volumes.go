package runnertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"deployster/internal/runtime/runner"
)

// AddFiles sets the paths that exist in an image, for Has.
func (f *Fake) AddFiles(reference string, paths ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files[f.names[normalize(reference)]] = paths
}

// Labels implements runner.Inspector: these images have no labels.
func (f *Fake) Labels(context.Context, string) (map[string]string, error) { return nil, nil }

// Has implements runner.Inspector.
func (f *Fake) Has(_ context.Context, digest string, paths ...string) (out []bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.programs[digest] == nil {
		return nil, fmt.Errorf("%s: %w", digest, runner.ErrNoImage)
	}
	for _, name := range paths {
		out = append(out, slices.Contains(f.files[digest], name))
	}
	return out, nil
}

// ownVolumes are the volumes of one run of a Fake. Programs find them with Path.
type ownVolumes struct {
	dir    string
	mounts []runner.Mount
}

func newVolumes(s runner.Spec) (v *ownVolumes, err error) {
	v = &ownVolumes{}
	if len(s.Volumes) == 0 && s.Answer == nil {
		return v, nil
	}
	if v.dir, err = os.MkdirTemp("", "volumes"); err != nil {
		return nil, err
	}
	add := func(name, target string) (string, error) {
		dir := filepath.Join(v.dir, name)
		v.mounts = append(v.mounts, runner.Mount{Source: dir, Target: target, Writable: true})
		return dir, os.Mkdir(dir, 0o755)
	}
	for n, one := range s.Volumes {
		dir, err := add(fmt.Sprint(n), one.Target)
		if err == nil && one.Fill != nil {
			err = one.Fill(dir)
		}
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(v.dir))
		}
	}
	if s.Answer != nil {
		if _, err := add("answer", path.Dir(s.Answer.Target)); err != nil {
			return nil, errors.Join(err, os.RemoveAll(v.dir))
		}
	}
	return v, nil
}

func (v *ownVolumes) remove() {
	if v.dir != "" {
		_ = os.RemoveAll(v.dir) // only tests use it
	}
}

// hand passes the answer and the volumes of a run to Answer.Read and Volume.Take.
func (v *ownVolumes) hand(s runner.Spec, res *runner.Result, err error) error {
	if s.Answer != nil && (s.Kind == runner.Action || err == nil && res.ExitCode == 0) {
		if rerr := v.answer(s, res); err == nil {
			err = rerr
		}
	}
	if err != nil || res.ExitCode != 0 || s.Kind == runner.Action {
		return err
	}
	for n, one := range s.Volumes {
		if one.Take == nil {
			continue
		}
		if err := one.Take(v.mounts[n].Source); err != nil {
			return err
		}
	}
	return nil
}

// answer reads the answer file as a real runner does.
func (v *ownVolumes) answer(s runner.Spec, res *runner.Result) error {
	name := filepath.Join(v.dir, "answer", path.Base(s.Answer.Target))
	info, err := os.Lstat(name)
	reason := ""
	switch {
	case errors.Is(err, os.ErrNotExist) && s.Kind == runner.Query:
		return s.Answer.Read(nil)
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&os.ModeSymlink != 0:
		reason = "is a symbolic link"
	case info.IsDir():
		reason = "is a directory"
	case info.Mode()&os.ModeNamedPipe != 0:
		reason = "is a FIFO"
	case info.Size() > s.Answer.Max:
		reason = runner.TooLong(s.Answer.Max)
	}
	if reason != "" && s.Kind == runner.Action {
		res.Fault = reason
		return nil
	}
	if reason != "" {
		return &runner.AnswerError{Reason: reason}
	}
	if s.Kind == runner.Action {
		res.Answer, err = os.ReadFile(name)
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.Answer.Read(f)
}
