package identity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"deployster/apply"
	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/testkit/identity"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
)

// lab is the whole engine in a directory, over a world in memory.
type lab struct {
	dir  string
	fake *runnertest.Fake

	mu    sync.Mutex // guards what follows
	world *identity.World
	log   []string // "make 1", in the order in which actions ended
	fails func() bool

	origin string          // the directory that this is a copy of; "" = it is none
	left   *identity.World // what is there
	death  *death          // of the process; nil = it lives
	twice  []string

	site     *identity.Site // what can be reached; nil = there are no hosts
	machines map[string]*machine
}

// config is what a type of the lab is given.
type config struct {
	ID     int
	Region *string
	V      int
}

const world = `"plugs":{"world":{"container_path":"/world"}},`

// plugged is the image of a type whose things are in the directory of a plug.
func plugged(ty identity.Knows, version int) string { return "plugged/" + reference(ty, version) }

// newLab returns a lab with all types and the directories w1 and w2 for plugs.
func newLab(dir string, w *identity.World) (*lab, error) {
	l := &lab{dir: dir, fake: runnertest.NewFake(), world: w, machines: map[string]*machine{}}
	for _, ty := range []identity.Knows{identity.ByIdentity, identity.ByConfig, identity.ByName, identity.ByBoth} {
		for _, version := range []int{0, 1, 2} {
			l.fake.Add(reference(ty, version), l.program(ty, says(ty, version), ""))
			l.fake.Add(reference(ty, version+identity.Mirrored), l.program(ty, says(ty, version), ""))
			l.fake.Add(plugged(ty, version), l.program(ty, says(ty, version)+world, "/"))
		}
	}
	l.fake.Add("lab/box:1", l.program(identity.ByIdentity, says(identity.ByIdentity, 1), "box"))
	const cache = `"plugs":{"world":{"container_path":"/world"},"cache":{"container_path":"/cache"}},`
	l.fake.Add("lab/file:1", l.program(identity.ByIdentity, says(identity.ByIdentity, 1)+world, "file"))
	l.fake.Add("lab/file:2", l.program(identity.ByIdentity, says(identity.ByIdentity, 1)+cache, "file"))
	return l, errors.Join(os.MkdirAll(filepath.Join(dir, "w1"), 0o700), os.MkdirAll(filepath.Join(dir, "w2"), 0o700))
}

// reference is the image of a type, in a version.
func reference(ty identity.Knows, version int) string {
	if version >= identity.Mirrored {
		return fmt.Sprintf("mirror.example/%s:%d", ty, version-identity.Mirrored)
	}
	return fmt.Sprintf("lab/%s:%d", ty, version)
}

// says is what a type says of what names its things: in version 0 nothing, in 1 the
// id, and in 2 the region too.
func says(ty identity.Knows, version int) string {
	const schema = `"config_schema":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},` +
		`"region":{"type":"string","default":"eu"},"v":{"type":"integer"}}},`
	switch {
	case ty != identity.ByIdentity || version == 0:
		return schema
	case version == 1:
		return schema + `"identity":["/id"],`
	}
	return schema + `"identity":["/id","/region"],`
}

// program is the image of a type.
func (l *lab) program(ty identity.Knows, says, place string) runnertest.Program {
	return func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
		var in protocol.ActionInput
		if err := json.NewDecoder(stdin).Decode(&in); err != nil {
			return 90
		}
		if len(s.Args) == 0 {
			_, _ = fmt.Fprintf(stdout, `{"protocol":2,"absent":true,%s"state_action":{"args":["state"]}}`, says)
			return 0
		}
		var given config
		if err := json.Unmarshal(in.Config, &given); err != nil {
			return 91
		}
		c := identity.Config{ID: given.ID, V: given.V, Place: place}
		if given.Region != nil {
			c.Region = *given.Region
		}
		world := l.world
		if host, _, ok := runnertest.Path(s, "/world"); ok {
			c.Place += filepath.Base(host)
			if l.origin != "" && filepath.Dir(host) == l.origin {
				world = l.left
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if s.Args[0] == "state" {
			_, _ = io.WriteString(stdout, look(world, ty, in.StateInput, c))
			return 0
		}
		return l.act(world, ty, in.Name, s.Args[0], c)
	}
}

// look answers the state action.
func look(world *identity.World, ty identity.Knows, in protocol.StateInput, c identity.Config) string {
	status, is := world.Ask(ty, in.Name, c)
	now := fmt.Sprintf(`{"id":%d,"one":1,"v":%d}`, c.ID, is)
	change := func(name string) string { return fmt.Sprintf(`"actions":[{"name":%q,"args":[%q]}]`, name, name) }
	switch {
	case in.Intent == protocol.Absent && status == identity.Missing:
		return `{"status":"MISSING"}`
	case in.Intent == protocol.Absent:
		return `{"status":"STALE","staleState":` + now + `,` + change("remove") + `}`
	case status == identity.Missing:
		return `{"status":"STALE",` + change("make") + `}`
	case status == identity.Valid:
		return `{"status":"VALID","state":` + now + `}`
	}
	return `{"status":"STALE","staleState":` + now + `,` + change("change") + `}`
}

// act does an action, unless it is to fail.
func (l *lab) act(world *identity.World, ty identity.Knows, name, action string, c identity.Config) int {
	if l.fails != nil && l.fails() {
		return 7
	}
	if l.death != nil && !l.death.lives(l.dir) {
		return 8
	}
	if k := identity.KeyOf(ty, name, c); action == "remove" {
		delete(world.Things, k)
	} else {
		if action == "make" && world.Things[k] != nil {
			l.twice = append(l.twice, string(k))
		}
		world.Set(ty, name, c)
	}
	if l.death != nil {
		l.death.after(l.dir)
	}
	l.log = append(l.log, fmt.Sprintf("%s %d", action, c.ID))
	return 0
}

// take returns what was done since the last call.
func (l *lab) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	log := l.log
	l.log = nil
	return log
}

// ids lists the things that are there, sorted.
func (l *lab) ids() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ids []string
	for k := range l.world.Things {
		ids = append(ids, strings.Fields(string(k))[1])
	}
	slices.Sort(ids)
	return ids
}

// declare writes manifests by their paths, in the place of all that there were.
func (l *lab) declare(files map[string]string) error {
	old, err := filepath.Glob(filepath.Join(l.dir, "*.hcl"))
	below, err2 := filepath.Glob(filepath.Join(l.dir, "*", "*.hcl"))
	err = errors.Join(err, err2)
	for _, path := range slices.Concat(old, below) {
		err = errors.Join(err, os.Remove(path))
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		at := filepath.Join(l.dir, path)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(files[path]), 0o600))
	}
	return err
}

// engine returns one for one command.
func (l *lab) engine() *app.Engine {
	return app.New(app.Options{Workspace: workspace.Options{Dir: l.dir, Home: l.dir, Version: "1.0.0"}, Dial: l.dial,
		Open: func(context.Context) (app.Runtime, error) { return runnertest.Runtime{Fake: l.fake}, nil }})
}

// plan plans, and saves the plan in a file of the lab.
func (l *lab) plan(ctx context.Context, s plan.Selection, parallelism int) (*plan.Plan, error) {
	e := l.engine()
	defer e.Close()
	return e.Plan(ctx, app.PlanOptions{Selection: s, Parallelism: parallelism, Out: filepath.Join(l.dir, "saved.plan")})
}

// otherPath lets things be removed where they are recorded, when the plug leads elsewhere.
var otherPath = "other-path"

// apply carries out the plan that was saved.
func (l *lab) apply(ctx context.Context, parallelism int) (*apply.Report, error) {
	e := l.engine()
	defer e.Close()
	path := filepath.Join(l.dir, "saved.plan")
	defer func() { _ = os.Remove(path) }()
	return e.Apply(ctx, app.ApplyOptions{Inputs: workspace.Inputs{Paths: []string{path}}, Parallelism: parallelism,
		Approval: approval.Options{Kinds: &otherPath}})
}

// recorded is the state.
func (l *lab) recorded() (state.Snapshot, error) {
	s, _, err := state.Load(state.File(filepath.Join(l.dir, workspace.DefaultState)))
	return s, err
}
