package artifacts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan"
	"deployster/plan/artifacts"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/actions"
)

// Types queries the images of types, and runs their actions. *typeclient.Client implements it.
type Types interface {
	plan.Prober
	apply.Executor
}

// Journal records puts. *state.Journal implements it.
type Journal interface {
	Put(addr string, p actions.Put) error
}

// Options are what a Client works with.
type Options struct {
	Types    Types
	Client   artifact.Client
	Store    artifact.Store
	Manifest *config.Manifest
	Prior    state.Snapshot
	Pins     func() map[string]artifacts.Pin // of the plan
	Again    []string                        // addresses of publishes to put again, whatever the state reports
	Warn     func(*diag.Diagnostic)
	Withheld func(path string) string // why images must not get a path of this host; "" = they may; nil = all paths are allowed
}

// Client is Types for a manifest with artifacts and publishes. It is safe for concurrent
// use.
type Client struct {
	Types
	o         Options
	declared  map[string]config.Artifact
	publishes map[string]*config.Resource
	plugs     map[string]config.Plug

	mu      sync.Mutex
	journal Journal
	made    map[string]json.RawMessage // address -> the state that a put of this process led to
}

// New returns a Client.
func New(o Options) *Client {
	f := &Client{Types: o.Types, o: o, declared: map[string]config.Artifact{}, publishes: map[string]*config.Resource{},
		plugs: map[string]config.Plug{}, made: map[string]json.RawMessage{}}
	for _, a := range o.Manifest.Artifacts() {
		f.declared[a.Name] = a
	}
	for _, r := range o.Manifest.Resources() {
		if r.Publish != nil {
			f.publishes[r.Address] = r
		}
	}
	for _, p := range o.Manifest.Plugs() {
		f.plugs[p.Name] = p
	}
	return f
}

// Record sets the journal that records puts from now on.
func (f *Client) Record(j Journal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.journal = j
}

func isPublish(t typeclient.Target) bool { return strings.HasPrefix(t.Address, config.PublishPrefix) }

// Init returns the init answer of an image. For a publish it checks that the image can put.
func (f *Client) Init(ctx context.Context, t typeclient.Target) (protocol.Type, error) {
	if isPublish(t) {
		return f.describe(ctx, t)
	}
	return f.Types.Init(ctx, t)
}

// State queries a state, with the files of artifacts mounted.
func (f *Client) State(ctx context.Context, t typeclient.Target, ty protocol.Type, in protocol.StateInput) (protocol.Answer, error) {
	if isPublish(t) {
		return f.decide(ctx, t, in)
	}
	t, err := f.Mounted(ctx, t)
	if err != nil {
		return protocol.Answer{}, err
	}
	return f.Types.State(ctx, t, ty, in)
}

// ActNotify runs an action, with the files of artifacts mounted.
func (f *Client) ActNotify(ctx context.Context, t typeclient.Target, ty protocol.Type, a protocol.Action, in protocol.ActionInput,
	told func(runner.Result, error) error) (runner.Result, error) {
	if isPublish(t) {
		return f.put(ctx, t, in, told)
	}
	t, err := f.Mounted(ctx, t)
	if err != nil {
		return runner.Result{}, err
	}
	return f.Types.ActNotify(ctx, t, ty, a, in, told)
}

// Mounted returns a target whose mounts of artifacts have the paths of their files here.
func (f *Client) Mounted(ctx context.Context, t typeclient.Target) (typeclient.Target, error) {
	for i, m := range t.Mounts {
		key, sub, ok := artifact.ParseMount(m.Source)
		if !ok {
			continue
		}
		order, err := f.order(ctx, key)
		if err != nil {
			return t, at(t.Address, err)
		}
		held, path, err := f.files(ctx, order, sub)
		if err != nil {
			return t, at(t.Address, f.lost(ctx, t.Address, key, order, err))
		}
		t.Mounts = slices.Clone(t.Mounts)
		if t.Settings.Host != nil {
			t.Mounts[i].Files = &runner.Files{Dir: held.Dir, Key: key, Name: order.Name, Tree: held.Tree}
			continue
		}
		t.Mounts[i] = runner.Mount{Source: path, Target: m.Target, Own: true}
	}
	return t, nil
}

// files fetches the files of an order if they are not here, and returns them, and the
// path of sub in them.
func (f *Client) files(ctx context.Context, order artifact.Order, sub string) (artifact.Held, string, error) {
	held, err := f.o.Store.Fetch(ctx, order)
	if err != nil {
		return held, "", err
	}
	path, err := artifact.Sub(held.Dir, sub)
	if err != nil {
		return held, "", diag.Errorf("Not in the files of the artifact", "%s shows %q of artifact.%s, version %s, and that does not "+
			"exist: %s. Correct the path of the plug.", f.plugOf(order.Name,
			sub), sub, order.Name, diag.Visible(order.Recipe.Version.String()), diag.Visible(err.Error()))
	}
	return held, path, nil
}

// plugOf names the plug that shows a path of an artifact.
func (f *Client) plugOf(name, sub string) string {
	for _, p := range f.o.Manifest.Plugs() {
		if p.Artifact == name && p.Path == sub {
			return "plug." + p.Name
		}
	}
	return "A plug" // of a block that no longer exists
}

// order returns the order that fetches the files of a key.
func (f *Client) order(_ context.Context, key string) (artifact.Order, error) {
	for _, p := range f.o.Pins() {
		if p.Key == key {
			if a, ok := f.declared[p.Name]; ok {
				return p.Order(a), nil
			}
			return artifacts.OrderOf(p.Pin), nil
		}
	}
	if p, ok := f.o.Prior.Pins[key]; ok {
		return artifacts.OrderOf(artifacts.Renewed(p, slices.Collect(maps.Values(f.declared)))), nil
	}
	return artifact.Order{}, errors.New("it was created with files of an artifact, and the state file does not name that: remove its " +
		"block and plan again")
}

// prefetches is how many artifacts are fetched concurrently.
const prefetches = 4

// Prefetch fetches the files that the steps of a plan need, if these may act.
func (f *Client) Prefetch(ctx context.Context, p *plan.Plan) error {
	keys := map[string]string{} // key -> the address that needs it
	for addr, step := range p.Resources {
		if step.Change() == plan.Forget || step.Change() == plan.Valid && step.Certainty != plan.MayChange {
			continue
		}
		for _, m := range step.Mounts {
			if key, _, ok := artifact.ParseMount(m.Source); ok {
				keys[key] = addr
			}
		}
		if r := f.publishes[addr]; r != nil && step.Change() != plan.Valid {
			for _, in := range r.Publish.Inputs {
				if pin, ok := p.Artifacts[f.artifactOf(in)]; ok {
					keys[pin.Key] = addr
				}
			}
		}
	}
	sorted := slices.Sorted(maps.Keys(keys))
	failed := make([]error, len(sorted))
	var group errgroup.Group
	group.SetLimit(prefetches)
	for i, key := range sorted {
		group.Go(func() error { failed[i] = f.fetch(ctx, p, key, keys[key]); return nil })
	}
	_ = group.Wait()
	return cmp.Or(failed...)
}

// fetch fetches the files of one key. who is the address of the resource that needs them.
func (f *Client) fetch(ctx context.Context, p *plan.Plan, key, who string) error {
	order, err := f.order(ctx, key)
	if err != nil {
		return err
	}
	needs := fmt.Sprintf("%s needs artifact.%s, version %s", config.Reference(who), order.Name, diag.Visible(order.Recipe.Version.String()))
	listed, err := f.isListed(ctx, p, order)
	if err == nil && !listed {
		return diag.Errorf("plan is stale: a version no longer exists", "%s, and its image does not list it any more. Plan again.", needs)
	}
	var held artifact.Held
	if err == nil {
		held, err = f.o.Store.Fetch(ctx, order)
	}
	if err != nil {
		d := diag.From("Cannot get an artifact", err)[0]
		return diag.Errorf("plan is stale: an artifact cannot be fetched", "%s. %s: %s Plan again.", needs, d.Summary, d.Detail)
	}
	if pin := p.Artifacts[order.Name]; f.o.Warn != nil && pin.Key == key && pin.Tree != "" && held.Tree != pin.Tree {
		w := diag.Warningf("Other files than for the plan", "artifact.%s, version %s, was fetched again, and its image returned other "+
			"files than for the plan. Types are queried again with these files before anything is changed, and other actions than shown "+
			"are refused.", order.Name,
			diag.Visible(order.Recipe.Version.String()))
		w.Address = "artifact." + order.Name
		f.o.Warn(w)
	}
	return nil
}

// isListed reports whether an image lists a version. With the second protocol a version
// that is not listed must not be used, even if its files are here.
func (f *Client) isListed(ctx context.Context, p *plan.Plan, order artifact.Order) (bool, error) {
	pin, ok := p.Artifacts[order.Name]
	if !ok || pin.Info.Protocol != artifact.Artifacts2 || !pin.Recipe.Version.Is(order.Recipe.Version) {
		return true, nil
	}
	return f.has(ctx, order, pin.Info)
}

// has makes an image of the second protocol check whether the source of an order still has its version.
func (f *Client) has(ctx context.Context, order artifact.Order, info artifact.Info) (bool, error) {
	space := order.Recipe.Space
	c, err := f.o.Client.Check(ctx, order.Target, info, artifact.CheckInput{Source: order.Recipe.Source, Space: space,
		From: map[string]artifact.Version{space: order.Recipe.Version}})
	listed := slices.ContainsFunc(c.Newest, func(v artifact.Versioned) bool { return v.Version.Is(order.Recipe.Version) })
	return c.Spaces[space].Continues || listed, err
}

// at adds the address that an error refers to.
func at(addr string, err error) error {
	list := diag.From("Cannot get an artifact", err)
	for _, d := range list {
		if d.Address == "" {
			d.Address = addr
		}
	}
	return list
}

// artifactOf returns the artifact whose files an input has; "" if its files are of this host.
func (f *Client) artifactOf(in config.PublishInput) string {
	if in.Plug != "" {
		return f.plugs[in.Plug].Artifact
	}
	return in.Artifact
}
