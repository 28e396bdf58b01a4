package apply_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/plan"
	"deployster/protocol"
	"deployster/state"
)

// bringer is a world of two types: a package, and a file that it may bring. No type declares edges.
type bringer struct {
	*engine
	mu    sync.Mutex
	there bool   // the package is installed
	early string // what the file answers before that; "" = it fails
	later string // what the file answers after that, until an action on it has ended
	file  bool   // an action on the file has ended
	log   []string
}

const validFile = `{"status":"VALID","state":{"v":1}}`

const bringsEtc = `"provides":[{"kind":"file","id":"/etc/web/"}]`

// newBringer makes one whose package answers with these additional members.
func newBringer(t *testing.T, brings string) *bringer {
	b := &bringer{engine: newEngine(t.TempDir()), early: absentB, later: absentB}
	pkg := &scripted{init: `"kind":"pkg","identity":["/name"],"unknowns":true,`}
	pkg.answer = func(in protocol.StateInput, args []string) (string, int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch {
		case args[0] != "state":
			b.there = args[0] == "make"
			b.log = append(b.log, args[0]+" package")
			return "", 0
		case in.Intent == protocol.Absent && b.there:
			return `{"status":"STALE","staleState":{},"actions":[{"name":"remove","args":["remove"]}]}`, 0
		case in.Intent == protocol.Absent:
			return `{"status":"MISSING"}`, 0
		case b.there:
			return `{"status":"VALID","state":{},` + brings + `}`, 0
		}
		return `{"status":"STALE","actions":[{"name":"make","args":["make"]}],` + brings + `}`, 0
	}
	file := &scripted{init: `"kind":"file","identity":["/path"],"unknowns":true,`}
	file.answer = func(in protocol.StateInput, args []string) (string, int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		answer := b.early
		if b.there {
			answer = b.later
		}
		switch {
		case args[0] != "state":
			b.file = args[0] != "remove"
			b.log = append(b.log, args[0]+" file")
			return "", 0
		case in.Intent == protocol.Absent && b.file:
			return `{"status":"STALE","staleState":{},"actions":[{"name":"remove","args":["remove"]}]}`, 0
		case in.Intent == protocol.Absent:
			return `{"status":"MISSING"}`, 0
		case b.file:
			return validFile, 0
		case answer == "":
			return "", 1
		}
		return answer, 0
	}
	b.fake.Add("test/pkg:1", pkg.program)
	b.fake.Add("test/file:1", file.program)
	return b
}

// sourceWith declares a file at a path with these attributes, and the package with others.
func sourceWith(path, file, pkg string) string {
	return fmt.Sprintf("deployster {\n  auto_edges = true\n}\nresource \"file\" {\n  type = \"test/file:1\"\n  config = { path = %q }\n%s}\n"+
		"resource \"pkg\" {\n  type = \"test/pkg:1\"\n  config = { name = \"web\" }\n%s}\n", path, file, pkg)
}

const conf = "/etc/web/conf"

// What lies at or below what another resource brings comes after it, and the plan has the edge.
func TestProvides_OrdersWhatIsBelow(t *testing.T) {
	t.Parallel()
	const edge = "pkg -> file (provides)"
	for name, c := range map[string]struct{ path, brings, edges, want string }{
		"below":             {conf, bringsEtc, edge, "create early: resource.pkg does not exist yet"},
		"far below":         {"/etc/web/a/b", bringsEtc, edge, "create early: resource.pkg does not exist yet"},
		"itself":            {"/etc/web", bringsEtc, edge, "create early: resource.pkg does not exist yet"},
		"beside":            {"/etc/website", bringsEtc, "", "create"},
		"of another kind":   {conf, `"provides":[{"kind":"link","id":"/etc/web"}]`, "", "create"},
		"not a path, above": {"a/b", `"provides":[{"kind":"file","id":"a"}]`, "", "create"},
		"not a path":        {"a", `"provides":[{"kind":"file","id":"a"}]`, edge, "create early: resource.pkg does not exist yet"},
		"nothing":           {conf, `"provides":[]`, "", "create"},
	} {
		p, err := newBringer(t, c.brings).plan(sourceWith(c.path, "", ""))
		if err != nil {
			t.Fatal(name, err)
		}
		var edges []string
		for _, e := range p.Edges {
			edges = append(edges, fmt.Sprintf("%s -> %s (%s)", e.From, e.To, e.Origin))
		}
		step := p.Resources["file"]
		if got := planned(step); strings.Join(edges, ", ") != c.edges || got != c.want {
			t.Errorf("%s: edges %v, the file is %q", name, edges, got)
		}
		if noted := len(step.Notes) > 0 && step.Notes[0].Words() == "It waits for resource.pkg, which brings it or what it needs (auto_edges)."; noted != (c.edges != "") {
			t.Errorf("%s: the notes are %v", name, step.Notes)
		}
	}
	off := newBringer(t, bringsEtc)
	if p, err := off.plan(replaced(sourceWith(conf, "", ""), "true", "false")); err != nil || len(p.Edges) != 0 {
		t.Errorf("without auto_edges the edges are %v: %v", p.Edges, err)
	}
}

// An edge that would close a cycle is left out, with a warning.
func TestProvides_NoCycles(t *testing.T) {
	t.Parallel()
	b := newBringer(t, bringsEtc)
	m, err := b.load(sourceWith(conf, "", "  depends_on = [resource.file]\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, diags := plan.Build(t.Context(), m, state.Snapshot{}, b.client(nil), plan.Options{Version: "0.1.0", Workspace: b.dir, Parallelism: 1})
	if diags.HasErrors() || len(p.Edges) != 1 || p.Edges[0].From != "file" {
		t.Fatalf("%v %v", p, diags)
	}
	if got := summaries(diags); len(got) != 1 || got[0] != "file: An automatic edge would close a cycle" {
		t.Errorf("the diagnostics are %q", got)
	}
}

// What comes after a package is queried again when that is installed, also what was VALID: what it then
// needs, and no plan has shown, is asked for, or the apply is incomplete.
func TestProvides_IsQueriedAgainAfterIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		early, later string
		deferred     apply.Deferred
		answers      []apply.Answer // nil = nobody to ask
		status       apply.Status   // of the file
		all          apply.Status
		log          string
	}{
		"the same":            {absentB, absentB, apply.DeferredStop, nil, apply.OK, apply.OK, "make package, make file"},
		"VALID still":         {validB, validB, apply.DeferredStop, nil, apply.Unchanged, apply.OK, "make package"},
		"VALID no more":       {validB, staleB, apply.DeferredStop, nil, apply.NotStarted, apply.Incomplete, "make package"},
		"VALID no more, yes":  {validB, staleB, apply.DeferredAsk, []apply.Answer{yes}, apply.OK, apply.OK, "make package, fix file"},
		"VALID no more, no":   {validB, staleB, apply.DeferredAsk, []apply.Answer{no}, apply.NotStarted, apply.Incomplete, "make package"},
		"other actions":       {absentB, renewedB, apply.DeferredStop, nil, apply.NotStarted, apply.Incomplete, "make package"},
		"it could not answer": {"", absentB, apply.DeferredAskBeyond, []apply.Answer{}, apply.OK, apply.OK, "make package, make file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, who := newBringer(t, bringsEtc), &person{answers: c.answers}
			b.early, b.later, b.opts.Deferred = c.early, c.later, c.deferred
			if c.answers != nil {
				b.opts.Ask = who.ask
			}
			report := b.do(t, sourceWith(conf, "", ""))
			if res := report.Resources["file"]; res.Status != c.status || report.Status != c.all {
				t.Errorf("the file is %s (%s), the apply %s: %v", res.Status, res.Reason, report.Status, report.Problems)
			}
			if log := strings.Join(b.log, ", "); log != c.log {
				t.Errorf("done: %s", log)
			}
		})
	}
}

// What could not be read before its package is there is deferred, and without the edge it is an error.
func TestProvides_EarlyErrorDefers(t *testing.T) {
	t.Parallel()
	b := newBringer(t, bringsEtc)
	b.early = `{"error":{"class":"config","message":"no directory"}}`
	p, err := b.plan(sourceWith(conf, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	if got := planned(p.Resources["file"]); got != "deferred(create): resource.pkg does not exist yet, and its type could not answer before that" {
		t.Errorf("the file is %q", got)
	}
	if _, err := b.plan(sourceWith("/elsewhere", "", "")); err == nil || !strings.Contains(err.Error(), "no directory") {
		t.Errorf("another file fails with %v", err)
	}
}

// The edges are recorded, so that a removal has the other order; also by a plan that queries nothing.
func TestProvides_IsRecordedForDestroy(t *testing.T) {
	t.Parallel()
	for _, quick := range []bool{false, true} {
		b := newBringer(t, bringsEtc)
		b.do(t, sourceWith(conf, "", ""))
		if b.only.NoRefresh = quick; quick {
			b.do(t, sourceWith(conf, "", "")+thing("other", "id", `"x"`))
			b.only.NoRefresh = false
		}
		snapshot, _, err := state.Load(state.File(b.statePath()))
		if err != nil || !slices.Equal(snapshot.Resources["file"].Dependencies, []string{"pkg"}) {
			t.Errorf("quick %v: recorded %v: %v", quick, snapshot.Resources["file"].Dependencies, err)
		}
		b.log = nil
		report := b.do(t, "deployster {\n  auto_edges = true\n}\n")
		if log := strings.Join(b.log, ", "); log != "remove file, remove package" || report.Status != apply.OK {
			t.Errorf("quick %v: done: %s: %v", quick, log, report.Problems)
		}
	}
}

const (
	promisedB    = `{"status":"STALE","actions":[{"name":"make","args":["make"]}],"forecast":{"v":1}}`
	sameB        = `{"status":"STALE","staleState":{"v":0},"actions":[{"name":"fix","args":["fix"]}],"forecast":{"v":1}}`
	otherB       = `{"status":"STALE","staleState":{"v":0},"actions":[{"name":"fix","args":["fix"]}],"forecast":{"v":2}}`
	unknownB     = `{"status":"STALE","staleState":{"v":0},"actions":[{"name":"fix","args":["fix"]}],"forecast":{"v":1},"unknown":["/w"]}`
	firstB       = `{"status":"STALE","staleState":{"v":0},"actions":[{"name":"fix","args":["fix"]}],"forecast":{"v":1},"shutdown_first":{"name":"stop","args":["stop"]}}`
	destructiveB = `{"status":"STALE","staleState":{"v":0},"actions":[{"name":"fix","args":["fix"],"destructive":true}],"forecast":{"v":1}}`
)

// The creation that was shown covers the update of what a package has brought meanwhile, if that destroys nothing
// and its forecast is the shown one. Such an object was not there before deployster.
func TestProvides_ShownCreationCoversWhatWasBrought(t *testing.T) {
	t.Parallel()
	const isNew = "  lifecycle {\n    adopt = false\n  }\n"
	for name, c := range map[string]struct {
		path, file, later string
		covered           bool
	}{
		"the same":                   {conf, "", sameB, true},
		"the same, adopt false":      {conf, isNew, sameB, true},
		"VALID, adopt false":         {conf, isNew, validFile, true},
		"it destroys":                {conf, "", destructiveB, false},
		"another forecast":           {conf, "", otherB, false},
		"no forecast":                {conf, "", staleB, false},
		"less is known":              {conf, "", unknownB, false},
		"something is stopped first": {conf, "", firstB, false},
		"beside":                     {"/elsewhere", "  depends_on = [resource.pkg]\n", sameB, false},
		"beside, adopt false":        {"/elsewhere", "  depends_on = [resource.pkg]\n" + isNew, sameB, false},
	} {
		b := newBringer(t, bringsEtc)
		b.early, b.later, b.opts.Deferred = promisedB, c.later, apply.DeferredStop
		report := b.do(t, sourceWith(c.path, c.file, ""))
		snapshot, _, err := state.Load(state.File(b.statePath()))
		if err != nil {
			t.Fatal(err)
		}
		entry, recorded := snapshot.Resources["file"]
		if done := report.Status == apply.OK; done != c.covered || recorded != c.covered || entry.Adopted {
			t.Errorf("%s: the file is %s, recorded %v, adopted %v: %v", name, report.Resources["file"].Status, recorded, entry.Adopted, report.Problems)
		}
	}
}

// What exists although its package was there before, or was not installed by this apply, is an object of others.
func TestProvides_OfWhatWasThereBeforeCoversNothing(t *testing.T) {
	t.Parallel()
	b := newBringer(t, bringsEtc)
	b.early, b.later, b.opts.Deferred = promisedB, sameB, apply.DeferredStop
	p, err := b.plan(sourceWith(conf, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	if brought := p.Resources["file"].BroughtBy; !slices.Equal(brought, []string{"pkg"}) {
		t.Errorf("it is brought by %q", brought)
	}
	b.there = true // another has installed it
	report, err := b.apply(t.Context(), p)
	if err != nil || report.Resources["file"].Status != apply.NotStarted {
		t.Errorf("%v: %v", report.Resources["file"], err)
	}
}

// What a failed action has left of an object that was brought is not an object of others either.
func TestProvides_WhatWasBroughtIsNotAdopted(t *testing.T) {
	t.Parallel()
	b := newBringer(t, bringsEtc)
	b.early, b.later, b.opts.Deferred = promisedB, sameB, apply.DeferredStop
	p, err := b.plan(sourceWith(conf, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	b.dieAfter(t, 4, p) // the package: started, ended, VALID; the file: started
	snapshot, _, err := state.Load(state.File(b.statePath()))
	if entry, recorded := snapshot.Resources["file"]; err != nil || !recorded || entry.Adopted {
		t.Errorf("recorded %v, adopted %v: %v", recorded, entry.Adopted, err)
	}
}
