package stage

import (
	"context"
	"time"

	"deployster/internal/app/command"
	"deployster/internal/app/hosts"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/plan/exclusive"
)

// releasing is how long machines may take to record what is declared after an apply.
const releasing = 30 * time.Second

// claim records on each machine what the state declares there, so that an exclusive set of another state keeps it, and refuses
// a plan that is in conflict with another state. release does so after the apply.
func (a Approved) claim(ctx context.Context, c command.Command, lineage string) (release func(whole bool) error, err error) {
	host := func(name string) *runner.Host {
		for _, h := range a.Manifest.Hosts() {
			if h.Name == name && name != "" {
				return &h.Host
			}
		}
		return nil
	}
	declared := exclusive.Declared{Steps: a.Plan.Resources, Sets: a.Plan.Exclusive, Host: host, Schemas: a.Clients,
		Dir: runner.RealDir(c.Work.Dir)}
	claims := func() *hosts.Claims { return hosts.ClaimsOf(a.Places, declared.Claims(), lineage, a.Place.String()) }
	told := func(warnings diag.Diagnostics, err error) error {
		c.Work.Diagnostics(warnings)
		return err
	}
	release = func(whole bool) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releasing)
		defer cancel()
		declared.Recorded = a.store.Snapshot().Resources
		return told(claims().End(ctx, whole && !a.Plan.Partial() && !a.Plan.Selection.RefreshOnly))
	}
	if err := told(claims().Begin(ctx)); err != nil {
		_ = told(claims().End(ctx, false)) // the first error is what counts
		return nil, err
	}
	return release, nil
}
