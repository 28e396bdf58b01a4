package operating

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"deployster/internal/app/clients"
	"deployster/internal/app/command"
	"deployster/internal/app/draft"
	"deployster/internal/app/images"
	"deployster/internal/app/stage"
	"deployster/internal/base/diag"
	"deployster/internal/base/secret"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/plan/query"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/moves"
)

// task is an operation on one resource.
type task struct {
	addr      string
	name      string
	operation protocol.Operation
	entry     state.Entry
	step      *plan.Step
	input     json.RawMessage
	sensitive []string // pointers into input
}

// key is what the state has the runs of the task under.
func (t task) key() string { return moves.OperationKey(t.addr, t.name) }

// host returns the name of the resource's host; "" = this machine.
func (t task) host() string { return runner.NameOf(t.entry.Settings.Host) }

// bench is what the tasks of a command need.
type bench struct {
	command command.Command
	session *query.Session
	clients clients.Clients
	prior   state.Snapshot
}

// newBench fetches the recorded images of some resources, and returns who runs them.
func newBench(ctx context.Context, c command.Command, n stage.Connected, addresses []string) (bench, error) {
	resolver, err := n.Machine.Resolver(c.Work.Dir, n.Manifest)
	if err != nil {
		return bench{}, err
	}
	chosen := func(addr string) bool { return slices.Contains(addresses, addr) }
	resolver.Wanted = chosen
	planner, in := n.Planner(c), draft.Inputs{Manifest: n.Manifest, Prior: n.Prior, Hosts: n.Pins}
	o := planner.Options(in)
	o.Signed = images.Signed(c.Work.Reader().Types())
	resolver.Former(ctx, n.Prior, o.Signed)
	asked, m, err := planner.Clients(ctx, in.Basis(images.Set{Resolver: resolver}), chosen, &o)
	if err != nil {
		return bench{}, err
	}
	return bench{command: c, session: query.New(m, n.Prior, asked, o), clients: asked, prior: n.Prior}, nil
}

// matching returns the recorded resources whose addresses a pattern covers: an address, that of a block or a module for all in it,
// or one with * for any text.
func matching(prior state.Snapshot, pattern string) (addresses []string, err error) {
	glob := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
	var all []string
	for addr := range prior.Resources {
		if _, number := moves.RecordedAt(addr); number > 0 {
			continue
		}
		all = append(all, addr)
		if glob.MatchString(addr) || moves.Covers(pattern, addr) {
			addresses = append(addresses, addr)
		}
	}
	slices.Sort(addresses)
	if len(addresses) == 0 {
		return nil, diag.Errorf("No such resource", "The state has no resource %s: %s.%s", diag.Visible(pattern), words.ThereAre(all),
			words.DidYouMean(pattern, all))
	}
	return addresses, nil
}

// task queries what a resource can do, and returns its task.
func (b bench) task(ctx context.Context, addr, name string, given func(schema json.RawMessage) (json.RawMessage, error)) (task, error) {
	entry, completed := b.prior.Completed(addr)
	switch {
	case !completed:
		return task{}, at(addr, diag.Errorf("The resource has no state yet", "%s was started and has never been VALID, so there is "+
			"no state for its image. Run `deployster apply` first.", addr))
	case entry.Transfer != nil:
		return task{}, at(addr, diag.Errorf("The resource is being transferred", "%s is being transferred to or from another state: run "+
			"`deployster apply` to finish that.", addr))
	}
	t := task{addr: addr, name: name, entry: entry, step: b.session.RecordedStep(entry)}
	t.step.Part = &change.Valid{}
	ty, err := b.clients.Init(ctx, t.step.Target(addr))
	if err != nil {
		return task{}, err
	}
	t.step.Init = ty
	var known bool
	if t.operation, known = ty.Operations[name]; !known {
		all := slices.Sorted(keys(ty.Operations))
		return task{}, at(addr, diag.Errorf("No such operation", "The type %s of %s has no operation %q: %s.%s",
			diag.Visible(entry.Type), addr,
			diag.Visible(name), words.ThereAre(all), words.DidYouMean(name, all)))
	}
	if t.input, err = given(t.operation.ConfigSchema); err != nil {
		return task{}, at(addr, err)
	}
	var diags diag.Diagnostics
	for _, v := range b.clients.CheckInput(ty, name, t.input) {
		d := diag.Errorf("Invalid input", "The operation %q of %s: %s Set it with -set.", name, addr, v.Sentence())
		d.Address = addr
		diags = append(diags, d)
	}
	t.sensitive = b.clients.WriteOnly(t.operation.ConfigSchema, t.input)
	b.command.Work.Secrets.Learn(secret.Values(t.input, t.sensitive))
	return t, diags.Err()
}

// at names the resource that an error is about.
func at(addr string, err error) error {
	list := diag.From("Cannot run the operation", err)
	for _, d := range list {
		d.Address = addr
	}
	return list
}

// free returns an error if a run of the same operation may still run, or an action on its resource. sought reports that the
// ends of both were queried.
func (b bench) free(ctx context.Context, n stage.Connected, t task, sought bool) error {
	if open := b.prior.Unsettled[t.addr].Open(); len(open) > 0 && sought {
		return at(t.addr, diag.Errorf("An action may still run", "%q of %s was started by %s, and its outcome is unknown. Run "+
			"`deployster apply` to determine it.", diag.Visible(open[0].Action), t.addr, b.prior.Unsettled[t.addr].By))
	}
	for _, a := range b.prior.Unsettled[t.key()].Open() {
		runs, err := n.Places.AdopterFor(t.entry.Settings.Host).Running(ctx, a.Key)
		switch {
		case err != nil && sought:
			return at(t.addr, err)
		case err == nil && sought && !runs && !t.operation.Idempotent:
			return at(t.addr, diag.Errorf("The outcome of the last run is unknown", "The operation %q of %s was started by %s, and "+
				"its outcome is unknown. It is not run again before that is known. If you know the outcome: `deployster resolve "+
				"-as=done '%s'`, or -as=failed.", t.name, t.addr, b.prior.Unsettled[t.key()].By, t.key()))
		case runs:
			return at(t.addr, diag.Errorf("The operation still runs", "The operation %q of %s was started by %s, and has not ended. "+
				"Only one run at a time is allowed: wait until it has ended.", t.name, t.addr, b.prior.Unsettled[t.key()].By))
		}
	}
	return nil
}
