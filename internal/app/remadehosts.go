package app

import (
	"context"
	"slices"

	"deployster/config"
	"deployster/internal/app/hosts"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/latehost"
	"deployster/plan/view"
	"deployster/state"
)

// madeAnew handles unreachable hosts whose address the state defines: it plans the
// resources that the address depends on. Where the plan creates or replaces one of these,
// the old machine no longer exists; where it updates one, the machine may only be
// switched off. madeAnew removes such hosts from late, pins them as not known yet, and
// returns the manifest without their addresses, so that the resources on them wait.
func madeAnew(ctx context.Context, e *Engine, m *config.Manifest, prior state.Snapshot, s plan.Selection, found hosts.Reached,
	late map[string]runner.Host) (*config.Manifest, error) {
	made, down := found.Sources(m, late, s)
	if len(made.Targets) == 0 || s.RefreshOnly || s.NoRefresh {
		return m, nil
	}
	facts, diags := m.WithHosts(found.Facts, late)
	if diags.HasErrors() {
		return nil, diags
	}
	e.pins = found.Pins
	p, _, diags, err := draft(ctx, e, facts, prior, made, 0)
	if err != nil || p == nil || diags.HasErrors() {
		return m, context.Cause(ctx) // the plan of everything reports the errors
	}
	recorded := view.Recorded(prior, func(string) view.View { return view.View{} })
	unless := func(changes ...plan.Change) map[string]runner.Host {
		return latehost.Known(facts, func(addr string) view.View {
			if step := p.Resources[addr]; step != nil && slices.Contains(changes, step.Change) {
				return view.View{}
			}
			return recorded(addr)
		}, prior)
	}
	there, as := unless(plan.Create, plan.Replace), unless(plan.Create, plan.Replace, plan.Update)
	for _, name := range down {
		_, stays := there[name]
		if _, asItWas := as[name]; asItWas || stays && e.over.FailUnreachable {
			continue
		}
		delete(late, name)
		e.places.Forget(name)
		found.Pins[name] = router.Pin{Address: runner.Host{Name: name}.String(), Anew: !stays}
	}
	m, diags = m.WithHosts(nil, late)
	return m, diags.Err()
}
