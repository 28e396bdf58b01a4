package lookup

import (
	"context"
	"strings"
	"sync"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/graph"
	"deployster/plan/observe"
	"deployster/plan/query"
	"deployster/plan/subject"
	"deployster/protocol"
	"deployster/state"
)

// Find reads what the checks of a session's manifest declare. scope has the states that are known. What depends on a state that is not
// known yet is not read.
func Find(ctx context.Context, x *query.Session, scope config.States) config.Looked {
	list := x.Subject.Manifest.Unattended().Lookups()
	looked := config.Looked{States: config.States{}, Failed: map[string]string{}}
	if len(list) == 0 || ctx.Err() != nil {
		return looked
	}
	l := &lookups{Session: x.Apart(), scope: scope, views: map[string]observe.View{}, failed: looked.Failed}
	l.Types.QueryAlso(ctx, list, l.Findings)
	l.manifest = config.Converting(x.Subject.Manifest, l.Types.TypeOf)
	resources, alone := map[string]*config.Resource{}, graph.Graph{} // none waits for another
	for _, r := range list {
		resources[r.Address], alone[r.Address] = r, nil
	}
	l.Visit(ctx, resources, alone, func(r *config.Resource) bool {
		l.look(ctx, r)
		return true
	})
	if ctx.Err() != nil {
		return config.Looked{} // it was interrupted: none has failed
	}
	var read []string
	for addr := range l.views {
		read = append(read, addr)
	}
	looked.States = observe.States(read, func(addr string) observe.View { return l.views[addr] }, state.Snapshot{})
	return looked
}

// lookups reads some resources.
type lookups struct {
	*query.Session
	manifest *config.Manifest
	scope    config.States

	mu     sync.Mutex // guards the maps: resources are read in parallel
	views  map[string]observe.View
	failed map[string]string
}

func (l *lookups) look(ctx context.Context, r *config.Resource) {
	view, known := l.read(ctx, r)
	why := l.why(r.Address)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case why != "":
		l.failed[r.Address] = why
	case known:
		l.views[r.Address] = view
	}
}

// why returns the first error about a resource; "" = there is none.
func (l *lookups) why(addr string) string {
	for _, d := range l.Findings.Sorted() {
		if d.Severity == diag.Error && d.Address == addr {
			return strings.Join(strings.Fields(strings.TrimSuffix(d.Summary+": "+d.Detail, ": ")), " ") // one line of the results
		}
	}
	return ""
}

// read reads one resource, and reports what is wrong. known is false if that is not known yet.
func (l *lookups) read(ctx context.Context, r *config.Resource) (view observe.View, known bool) {
	if l.Types.Type(r.Address) == nil {
		return view, false // reported
	}
	resolved, diags := l.manifest.Config(r.Address, l.scope)
	if l.Findings.Report(r, "", diags); diags.HasErrors() || len(resolved.Unknown) > 0 {
		return view, false
	}
	step := l.NewStep(ctx, r, resolved)
	l.Secret(step)
	violations := l.Prober.CheckConfig(step.Init, step.Config, step.Unknown)
	if l.Findings.Report(r, "", subject.Violations(l.manifest, r.Address, violations)); len(violations) > 0 {
		return view, false
	}
	q := l.Query(r.Address, step, state.Entry{})
	o := l.Observe(ctx, &q, nil, observe.Scope{Prior: l.Subject.Prior, View: func(string) observe.View { return observe.View{} }})
	if o.Err != nil {
		l.Findings.Report(r, "", l.Plugs.Blame(diag.From("Cannot read the state", o.Err), o.Err, step.Init))
		return view, false
	}
	if o.Answer.Status != protocol.Valid {
		l.Findings.Report(r, "", diag.Diagnostics{diag.Errorf("It does not exist as its config has it", "Its image returned %s instead of "+
			"VALID. A check only reads: what it reads exists already, as its config describes it.", o.Answer.Status)})
		return view, false
	}
	step.Take(o)
	return step.View(), true
}
