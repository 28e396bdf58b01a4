package hosts

import (
	"cmp"
	"context"
	"slices"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/latehost"
	"deployster/plan/observe"
	"deployster/plan/reason"
	"deployster/state"
	"deployster/state/moves"
)

// Subject is what the hosts belong to that a command connects to.
type Subject struct {
	Manifest  *config.Manifest
	Prior     state.Snapshot
	Selection plan.Selection
	Open      []string // resources with an action that may still run on an unreachable machine
	AtOnce    int      // how many hosts are greeted concurrently; 0 = order.Hosts
	Fail      bool     // an unreachable host is an error; else the resources on it are left unchanged

	// Draft plans the resources that define the addresses of unreachable hosts; nil = the command
	// creates no machines. The plan is nil if it has errors: the plan of everything reports them.
	Draft func(context.Context, *config.Manifest, map[string]router.Pin, plan.Selection) (*plan.Plan, error)
}

// Connected is a subject whose hosts have answered, or are left out.
type Connected struct {
	Manifest  *config.Manifest // with the facts of the hosts
	Selection plan.Selection   // leaves the resources on unreachable hosts
	Pins      map[string]router.Pin
}

// Connect connects to the hosts that resources are on: those that the manifest declares,
// and those that only the state has. The hosts that answered are pinned in the plan.
func Connect(ctx context.Context, w *workspace.Workspace, at *router.Places, o Subject) (Connected, error) {
	s := o.Selection
	m, late, err := WithLate(o.Manifest, o.Prior)
	if err != nil {
		return Connected{}, err
	}
	on := Declared(m)
	at.Known(Reachable(m))
	found := Greet(ctx, at, on, o.AtOnce)
	if o.Draft != nil {
		asked := Selected(s, Recorded(Declared(m), o.Prior))
		if m, err = remade(ctx, at, m, o, asked, found, late); err != nil {
			return Connected{}, err
		}
		on = Declared(m)
	}
	if err := router.SameMachine(found.Pins); err != nil {
		return Connected{}, err
	}
	former := found.Former(on, o.Prior)
	found.Add(on, former, Greet(ctx, at, former, o.AtOnce))
	w.Diagnostics(found.pending())
	if ctx.Err() != nil || len(on) == 0 {
		return Connected{Manifest: m, Selection: s}, context.Cause(ctx)
	}
	facts, diags := m.WithHosts(found.Facts, late)
	if diags.HasErrors() {
		return Connected{}, diags
	}
	Join(on, Declared(facts)) // with the instances that depend on facts
	s = Selected(s, on)
	if err := found.refused(facts, s); err != nil {
		return Connected{}, err
	}
	if s.Unreached, err = unreached(w, facts, o, s.Excludes, found, on); err != nil {
		return Connected{}, err
	}
	s.UnreachedHosts = map[string]*reason.Reason{}
	for _, name := range sorted(found.Pins) {
		if found.Pins[name].Unreachable != "" {
			s.UnreachedHosts[name] = Because(name, found.Pins[name])
		}
	}
	for _, addr := range Today(facts, o.Prior, found.Open(o.Open, o.Prior)) {
		s.Unreached[addr] = cmp.Or(s.Unreached[addr], reason.New(reason.MayRun))
	}
	return Connected{Manifest: facts, Selection: s, Pins: found.Pins}, nil
}

// unreached returns the resources that are left out because hosts are unreachable, with the
// reason, and reports them.
func unreached(w *workspace.Workspace, m *config.Manifest, o Subject, excludes []string, found Reached,
	on map[string]*Resident) (map[string]*reason.Reason, error) {
	var diags diag.Diagnostics
	why := map[string]*reason.Reason{}
	left := slices.Clone(excludes)
	leave := func(list []string, because *reason.Reason) {
		for _, addr := range list {
			why[addr] = cmp.Or(why[addr], because)
		}
		left = append(left, list...)
	}
	for _, name := range sorted(found.Pins) {
		if wrong := found.Pins[name].Unreachable; wrong != "" {
			there := Today(m, o.Prior, on[name].Addresses)
			leave(there, Because(name, found.Pins[name]))
			d := diag.Warningf("A host is unreachable", "%s (%s): %s. Its resources and their dependants are skipped: %s.",
				name, found.Pins[name].Address, wrong, words.All(there))
			if o.Fail {
				d.Severity = diag.Error
			}
			diags = append(diags, d)
		}
	}
	if diags.HasErrors() {
		return nil, diags
	}
	if blind := notIn(found.Blind(m), left); len(blind) > 0 {
		diags = append(diags, diag.Warningf("Instances are not known", "%s: their number follows from facts of unreachable hosts. They "+
			"are skipped.", words.All(blind)))
		leave(blind, reason.New(reason.UnknownInstances))
	}
	if lost := notIn(Today(m, o.Prior, found.Lost(on, o.Prior)), left); len(lost) > 0 {
		diags = append(diags, diag.Warningf("A machine may be unreachable", "%s: its machine answers under no name. It may be one of "+
			"the unreachable hosts, so it is skipped.", words.All(lost)))
		leave(lost, reason.New(reason.MachineLost))
	}
	w.Diagnostics(diags)
	return why, nil
}

// pending warns of what an undo on a host may still change.
func (r Reached) pending() (diags diag.Diagnostics) {
	for _, name := range sorted(r.Pending) {
		diags = append(diags, diag.Warningf("An undo is pending", "%s: guarded actions on %s are undone unless their apply reaches "+
			"the host again. What is read there now may change; the next apply waits for that.", name, words.All(r.Pending[name])))
	}
	return diags
}

// notIn returns list without the elements of other.
func notIn(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

// WithLate returns the manifest with the addresses of the hosts that are defined by recorded states.
func WithLate(m *config.Manifest, prior state.Snapshot) (*config.Manifest, map[string]runner.Host, error) {
	late := latehost.Recorded(m, prior)
	if len(late) == 0 {
		return m, nil, nil
	}
	m, diags := m.WithHosts(nil, late)
	return m, late, diags.Err()
}

// remade handles unreachable hosts whose address the state defines: it plans the
// resources that the address depends on. Where the plan creates or replaces one of these,
// the old machine no longer exists; where it updates one, the machine may only be
// switched off. remade removes such hosts from late, pins them as not known yet, and
// returns the manifest without their addresses, so that the resources on them wait.
func remade(ctx context.Context, at *router.Places, m *config.Manifest, o Subject, s plan.Selection, found Reached,
	late map[string]runner.Host) (*config.Manifest, error) {
	made, down := found.Sources(m, late, s)
	if len(made.Targets) == 0 || s.RefreshOnly || s.NoRefresh {
		return m, nil
	}
	facts, diags := m.WithHosts(found.Facts, late)
	if diags.HasErrors() {
		return nil, diags
	}
	p, err := o.Draft(ctx, facts, found.Pins, made)
	if err != nil || p == nil {
		return m, context.Cause(ctx) // the plan of everything reports the errors
	}
	recorded := observe.RecordedViews(o.Prior, func(string) observe.View { return observe.View{} })
	unless := func(changes ...plan.Change) map[string]runner.Host {
		return latehost.Known(facts, func(addr string) observe.View {
			if step := p.Resources[addr]; step != nil && slices.Contains(changes, step.Change()) {
				return observe.View{}
			}
			return recorded(addr)
		}, o.Prior)
	}
	there, as := unless(plan.Create, plan.Replace), unless(plan.Create, plan.Replace, plan.Update)
	for _, name := range down {
		_, stays := there[name]
		if _, asItWas := as[name]; asItWas || stays && o.Fail {
			continue
		}
		delete(late, name)
		at.Forget(name)
		found.Pins[name] = router.Pin{Address: runner.Host{Name: name}.String(), Anew: !stays}
	}
	m, diags = m.WithHosts(nil, late)
	return m, diags.Err()
}

// Locate returns a state in which each entry on a host has the host that its machine is
// today, as a plan does. It connects to hosts only if an action may be open on one, or if
// too selects an entry on one.
func Locate(ctx context.Context, at *router.Places, m *config.Manifest, prior state.Snapshot, atOnce int,
	too func(addr string) bool) (state.Snapshot, error) {
	var begun []string
	for _, addr := range sorted(prior.Unsettled) {
		if u := prior.Unsettled[addr]; prior.Host(addr) != nil && (len(u.Open()) > 0 || too(addr)) {
			on, _ := moves.OperationAt(addr)
			begun = append(begun, on)
		}
	}
	if len(begun) == 0 {
		return prior, nil
	}
	m, late, err := WithLate(m, prior)
	if err != nil {
		return prior, err
	}
	on := Declared(m)
	at.Known(Reachable(m))
	found := Greet(ctx, at, on, atOnce)
	former := found.Former(on, prior)
	found.Add(on, former, Greet(ctx, at, former, atOnce))
	if ctx.Err() != nil {
		return prior, context.Cause(ctx)
	}
	for name := range late { // a host that is switched off may be on again when it is tried next
		open := slices.ContainsFunc(on[name].Addresses, func(addr string) bool { return slices.Contains(begun, addr) })
		if found.Pins[name].Unreachable != "" && !open {
			at.Forget(name)
		}
	}
	m, diags := m.WithHosts(found.Facts, late)
	return Placed(m, found.Pins, prior), diags.Err()
}

// CheckPlan returns an error if a host of a saved plan is another machine now, or its
// plugs are gone. An unreachable host fails later, when it is processed.
func CheckPlan(ctx context.Context, w *workspace.Workspace, at *router.Places, p *plan.Plan) error {
	on := map[string]*Resident{}
	for _, addr := range sorted(p.Resources) {
		step := p.Resources[addr]
		if host := step.Settings.Host; host != nil && (step.Change() != plan.Forget || step.Gone()) {
			if on[host.Name] == nil {
				on[host.Name] = &Resident{Host: *host}
			}
			on[host.Name].Addresses = append(on[host.Name].Addresses, addr)
		}
	}
	return Check(ctx, at, p, on)
}
