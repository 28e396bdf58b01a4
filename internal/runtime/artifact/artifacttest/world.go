package artifacttest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// World is an artifact.Client with versions in memory: a Line for each source.
type World struct {
	mu    sync.Mutex
	infos map[string]artifact.Info
	lines map[string]*Line
	log   []string
	fail  map[string]error // step -> error
}

// Line has the versions of a source.
type Line struct {
	Default string                                   // the default space
	Spaces  map[string][]artifact.Versioned          // oldest first
	Files   map[string]map[string]string             // version key -> path -> content; none = one file "version"
	OnPut   func(dir string, params json.RawMessage) // called with the inputs of a put
}

// NewWorld returns a World without images.
func NewWorld() *World {
	return &World{infos: map[string]artifact.Info{}, lines: map[string]*Line{}, fail: map[string]error{}}
}

// AddImage adds an image.
func (w *World) AddImage(reference string, speaks artifact.Protocol) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cmd := func(name string) protocol.Command { return protocol.Command{Args: []string{name}} }
	put := cmd(artifact.StepPut)
	var remove *protocol.Command // only the second protocol has it
	if speaks == artifact.Artifacts2 {
		c := cmd(artifact.StepDelete)
		remove = &c
	}
	w.infos[reference] = artifact.Info{Protocol: speaks, Reference: reference, Digest: "sha256:" + reference,
		Check: cmd(artifact.StepCheck),
		Get:   cmd(artifact.StepGet), Put: &put, Delete: remove}
}

// Change lets a test change the Line of a source, which is created if it does not exist.
func (w *World) Change(source string, change func(*Line)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w.line(json.RawMessage(source)))
}

func (w *World) line(source json.RawMessage) *Line {
	l := w.lines[string(source)]
	if l == nil {
		l = &Line{Spaces: map[string][]artifact.Versioned{}, Files: map[string]map[string]string{}}
		w.lines[string(source)] = l
	}
	return l
}

// Fail makes a step fail with an error, or work again with nil.
func (w *World) Fail(step string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail[step] = err
}

// TakeLog returns the calls since the last TakeLog: "check artifact.site".
func (w *World) TakeLog() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	log := w.log
	w.log = nil
	return log
}

func (w *World) asked(step string, t artifact.Target) error {
	w.log = append(w.log, step+" "+t.Address)
	return w.fail[step]
}

// Info implements artifact.Client.
func (w *World) Info(_ context.Context, t artifact.Target) (artifact.Info, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.asked(artifact.StepInfo, t); err != nil {
		return artifact.Info{}, err
	}
	i, ok := w.infos[t.Reference]
	if !ok {
		return i, &artifact.Error{Class: artifact.Foreign, Err: fmt.Errorf("image %s does not say what it is", t.Reference)}
	}
	return i, nil
}

// Check implements artifact.Client.
func (w *World) Check(_ context.Context, t artifact.Target, i artifact.Info, in artifact.CheckInput) (artifact.Checked, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.asked(artifact.StepCheck, t); err != nil {
		return artifact.Checked{}, err
	}
	l := w.line(in.Source)
	c := artifact.Checked{Default: l.Default, Selected: in.Space, Spaces: map[string]artifact.Space{}}
	if c.Selected == "" {
		c.Selected = l.Default
	}
	for _, name := range slices.Sorted(maps.Keys(l.Spaces)) {
		list := l.Spaces[name]
		from := slices.IndexFunc(list, func(v artifact.Versioned) bool { return v.Version.Is(in.From[name]) })
		if len(list) == 0 {
			continue
		}
		list = list[max(from, 0):]
		c.Spaces[name] = artifact.Space{Last: list[len(list)-1], Count: len(list), Continues: from >= 0}
		if name == c.Selected {
			c.Newest = list[max(0, len(list)-cmp.Or(in.Keep, artifact.DefaultKeep)):]
		}
		for _, v := range list {
			if in.Each != nil {
				in.Each(v)
			}
		}
	}
	c.Silent = i.Protocol == artifact.Concourse1 && len(c.Spaces) == 0
	return c, nil
}

// Get implements artifact.Client.
func (w *World) Get(_ context.Context, t artifact.Target, _ artifact.Info, in artifact.GetInput) (artifact.Metadata, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.asked(artifact.StepGet, t); err != nil {
		return nil, err
	}
	r := in.Recipe
	l := w.line(r.Source)
	at := slices.IndexFunc(l.Spaces[r.Space], func(v artifact.Versioned) bool { return v.Version.Is(r.Version) })
	if at < 0 {
		return nil, &artifact.Error{Class: artifact.Failed, Err: fmt.Errorf("%s is not there", r.Version)}
	}
	dir, err := os.MkdirTemp("", "artifact")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	files := l.Files[r.Version.Key()]
	if files == nil {
		files = map[string]string{"version": r.Version.String() + "\n"}
	}
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			return nil, err
		}
	}
	return l.Spaces[r.Space][at].Metadata, in.Take(dir)
}

// Put implements artifact.Client: it creates the version that params names as "space"
// and "version".
func (w *World) Put(_ context.Context, t artifact.Target, _ artifact.Info, in artifact.PutInput) (out artifact.Put, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out, err = w.put(t, in)
	res := runner.Result{}
	if err != nil {
		res.ExitCode = 1
	}
	if in.Ended != nil {
		if failed := in.Ended(out, res, err); failed != nil {
			return out, failed
		}
	}
	return out, err
}

func (w *World) put(t artifact.Target, in artifact.PutInput) (out artifact.Put, err error) {
	if err := w.asked(artifact.StepPut, t); err != nil {
		return out, err
	}
	dir, err := os.MkdirTemp("", "artifact")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	if in.Fill != nil {
		if err := in.Fill(dir); err != nil {
			return out, err
		}
	}
	l := w.line(in.Source)
	if l.OnPut != nil {
		l.OnPut(dir, in.Params)
	}
	var v artifact.Versioned
	if err := json.Unmarshal(in.Params, &v); err != nil {
		return out, err
	}
	l.Spaces[v.Space] = append(l.Spaces[v.Space], v)
	return artifact.Put{Created: []artifact.Versioned{v}}, nil
}

// Delete implements artifact.Client.
func (w *World) Delete(_ context.Context, _ artifact.Target, _ artifact.Info, in artifact.DeleteInput) error {
	l := w.line(in.Source)
	l.Spaces[in.Space] = slices.DeleteFunc(l.Spaces[in.Space], func(v artifact.Versioned) bool { return v.Version.Is(in.Version) })
	return nil
}

// ReadPut implements artifact.Client: the answer is a Put in JSON.
func (w *World) ReadPut(_ artifact.Target, _ artifact.Info, r runner.Result) (out artifact.Put, err error) {
	if r.ExitCode != 0 {
		return out, &artifact.Error{Class: artifact.Failed, Err: fmt.Errorf("exit %d", r.ExitCode)}
	}
	return out, json.Unmarshal(r.Stdout, &out)
}
