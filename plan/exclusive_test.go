package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/claims"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan/observe"
	"deployster/plan/order"
	"deployster/plan/reason"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/actions"
)

// jobs is a Prober of a type that lists jobs by name. All jobs that it lists exist.
type jobs struct {
	typeschema.Schemas
	list    []string
	broken  map[string]bool   // names whose state cannot be read
	after   map[string]string // which job comes after which
	failing error             // of the list
	memory  bool
	mute    bool // it lists nothing
	stays   bool // it removes nothing
}

func (*jobs) Images() map[string]string { return nil }

func (*jobs) CheckConfig(protocol.Type, json.RawMessage, map[string]string) []typeschema.Violation {
	return nil
}

func (j *jobs) Init(_ context.Context, t typeclient.Target) (protocol.Type, error) {
	ty := protocol.Type{Reference: t.Reference, Digest: "sha256:1", Protocol: 2, StateAction: protocol.Command{Args: []string{"state"}}}
	if strings.HasPrefix(t.Reference, "job") {
		ty.Kind, ty.Identity, ty.Absent, ty.Memory = "job", []string{"/name"}, !j.stays, j.memory
		ty.AutoEdges = []protocol.AutoEdge{{By: "/after", Kind: "job"}}
		if !j.mute {
			ty.DiscoverAction = &protocol.Command{Args: []string{"discover"}}
		}
	}
	return ty, nil
}

func (j *jobs) Discover(context.Context, typeclient.Target, protocol.Type, json.RawMessage) (list []typeclient.Discovered, err error) {
	for _, name := range j.list {
		config := json.RawMessage(fmt.Sprintf(`{"name":%q,"after":%q}`, name, j.after[name]))
		if name == "" {
			config = json.RawMessage(`{}`)
		}
		list = append(list, typeclient.Discovered{Config: config})
	}
	return list, j.failing
}

func (j *jobs) State(_ context.Context, t typeclient.Target, _ protocol.Type, in protocol.StateInput) (protocol.Answer, error) {
	var config struct{ Name string }
	if err := json.Unmarshal(in.Config, &config); err != nil {
		return protocol.Answer{}, err
	}
	act := []protocol.Action{{Name: "act", Command: protocol.Command{Args: []string{"act"}}}}
	exists := slices.Contains(j.list, config.Name)
	switch {
	case j.broken[config.Name]:
		return protocol.Answer{}, errors.New("it cannot be read")
	case !strings.HasPrefix(t.Reference, "job") && t.Address == "changes":
		return protocol.Answer{Status: protocol.Stale, StaleState: []byte(`{"name":"old"}`), Actions: act}, nil
	case !strings.HasPrefix(t.Reference, "job") && t.Address == "made":
		return protocol.Answer{Status: protocol.Valid, State: []byte(`{"name":"x"}`)}, nil
	case in.Intent == protocol.Absent && exists:
		return protocol.Answer{Status: protocol.Stale, StaleState: []byte(`{}`), Actions: act}, nil
	case exists:
		return protocol.Answer{Status: protocol.Valid, State: []byte(`{}`)}, nil
	}
	return protocol.Answer{Status: protocol.Missing, Actions: act}, nil
}

// setCase is a plan of a set, and what becomes of the objects.
type setCase struct {
	manifest string
	jobs     *jobs
	prior    map[string]state.Entry
	dirty    map[string]actions.Unsettled
	chosen   Selection
	claims   []claims.Record
	hosts    map[string]router.Pin
	lost     error // of the claims
	gone     []state.Transferred

	purge, undone, kept string // identities, with the codes of reasons for those that are kept
	held                string // codes
	wrong               string // the summary of an error
}

const set = `
exclusive "jobs" {
  type = "job"
  keep = ["sys*", "e?"]
}
`

func declare(name, rest string) string {
	return fmt.Sprintf("resource %q {\n  type = \"job\"\n  config = { name = %q }\n%s}\n", name, name, rest)
}

func entryOf(name string) state.Entry {
	return state.Entry{Type: "job", Digest: "sha256:1", Kind: "job", Identity: []string{"/name"}, Config: []byte(fmt.Sprintf(`{"name":%q}`, name)),
		State: []byte(`{}`), ValidAt: time.Unix(1, 0)}
}

var hostA = "\nhost \"a\" { address = \"10.0.0.1\" }\nhost \"b\" { address = \"10.0.0.2\" }\n"

func setCases() map[string]setCase {
	whole := Selection{Purge: true}
	on := func(host string) string { return "  host = host." + host + "\n" }
	onHost := strings.Replace(set, "  keep", "  host = host.a\n  keep", 1)
	return map[string]setCase{
		"what is neither declared nor kept is purged": {manifest: set + declare("a", ""), jobs: &jobs{list: []string{"a", "b", "system", "ex", "exx"}},
			chosen: whole, purge: "b exx", kept: "ex:kept_by_name system:kept_by_name"},
		"no approval":      {manifest: set, jobs: &jobs{list: []string{"b"}}, undone: "b"},
		"a listed twice":   {manifest: set, jobs: &jobs{list: []string{"b", "b"}}, chosen: whole, purge: "b"},
		"a is undeclared":  {manifest: set, jobs: &jobs{list: []string{"a"}}, prior: map[string]state.Entry{"a": entryOf("a")}, chosen: whole},
		"a is forgotten":   {manifest: set + "removed {\n  from = resource.a\n  lifecycle { destroy = false }\n}\n", jobs: &jobs{list: []string{"a"}}, prior: map[string]state.Entry{"a": entryOf("a")}, chosen: whole, kept: "a:kept_recorded"},
		"of another state": {manifest: set, jobs: &jobs{list: []string{"b", "c"}}, chosen: whole, claims: []claims.Record{{Objects: []claims.Object{claims.ObjectOf("job", "b")}}}, purge: "c", kept: "b:kept_by_state"},
		"unread":           {manifest: set, jobs: &jobs{list: []string{"b", "c"}, broken: map[string]bool{"b": true}}, chosen: whole, purge: "c", kept: "b:kept_unread"},
		"on another host":  {manifest: hostA + onHost + declare("b", on("b")), jobs: &jobs{list: []string{"b"}}, chosen: whole, purge: "b"},
		"on this host":     {manifest: hostA + onHost + declare("b", on("a")), jobs: &jobs{list: []string{"b"}}, chosen: whole},

		"a target":        {manifest: set + declare("a", ""), jobs: &jobs{list: []string{"a", "b"}}, chosen: Selection{Purge: true, Targets: []string{"a"}}, undone: "b", held: "held_part"},
		"an exclusion":    {manifest: set + declare("a", "") + declare("c", ""), jobs: &jobs{list: []string{"a", "b"}}, chosen: Selection{Purge: true, Excludes: []string{"a"}}, undone: "b", held: "held_left_out held_part"},
		"some files":      {manifest: set + declare("a", "") + declare("c", ""), jobs: &jobs{list: []string{"a", "b"}}, chosen: Selection{Purge: true, Only: []string{"c"}}, undone: "b", held: "held_left_out held_part"},
		"recorded states": {manifest: set + declare("a", ""), jobs: &jobs{list: []string{"a", "b"}}, chosen: Selection{Purge: true, NoRefresh: true}, undone: "b", held: "held_unread"},
		"only recording":  {manifest: set, jobs: &jobs{list: []string{"b"}}, chosen: Selection{Purge: true, RefreshOnly: true}},
		"a host down": {manifest: hostA + set + declare("a", on("a")) + declare("c", ""), jobs: &jobs{list: []string{"b", "c"}},
			hosts:  map[string]router.Pin{"a": {Unreachable: "it is down"}},
			chosen: Selection{Purge: true, Unreached: map[string]*reason.Reason{"a": reason.New(reason.HostUnreachable, "a", "x")}}, purge: "b"},
		"a left out here": {manifest: set + declare("a", "") + declare("c", ""), jobs: &jobs{list: []string{"b", "c"}},
			chosen: Selection{Purge: true, Unreached: map[string]*reason.Reason{"a": reason.New(reason.MayRun)}}, undone: "b", held: "held_left_out"},
		"the host down": {manifest: hostA + onHost, jobs: &jobs{list: []string{"b"}}, hosts: map[string]router.Pin{"a": {Unreachable: "it is down"}},
			chosen: whole, held: "host_unreachable"},
		"deferred": {manifest: set + "resource \"new\" { type = \"id\" }\nresource \"a\" {\n  type = \"job\"\n  config = { name = \"a\", with = resource.new.state.name }\n}\n",
			jobs: &jobs{list: []string{"a", "b"}}, chosen: whole, undone: "b", held: "dependency_deferred"},
		"of unknown identity": {manifest: set + "resource \"new\" { type = \"id\" }\nresource \"a\" {\n  type = \"job\"\n  config = { name = resource.new.state.name }\n}\n",
			jobs: &jobs{list: []string{"b"}}, chosen: whole, undone: "b", held: "held_unnamed"},
		"with unknown instances": {manifest: set + "resource \"new\" { type = \"id\" }\nresource \"more\" {\n  for_each = toset([resource.new.state.name])\n  type = \"job\"\n  config = { name = each.key }\n}\n",
			jobs: &jobs{list: []string{"b"}}, chosen: whole, undone: "b", held: "held_pending"},
		"it may change": {manifest: set + "resource \"changes\" { type = \"id\" }\n" + declare("a", "  depends_on = [resource.changes]\n"),
			jobs: &jobs{list: []string{"a", "b"}}, chosen: whole, undone: "b", held: "dependency_may_change"},
		"it may still run": {manifest: set + declare("a", ""), jobs: &jobs{list: []string{"a", "b"}}, prior: map[string]state.Entry{"a": entryOf("a")},
			dirty: map[string]actions.Unsettled{"a": {Plan: "p", Held: true, Actions: []actions.Attempt{{Action: "act", Key: "k", Started: time.Unix(1, 0)}}}}, chosen: whole, undone: "b", held: "held_running"},
		"it leaves": {manifest: set + declare("a", ""), jobs: &jobs{list: []string{"a", "b"}}, prior: map[string]state.Entry{"a": onTheWay("a", true)}, chosen: whole,
			undone: "b", held: "held_between"},
		"it arrives, undeclared": {manifest: set, jobs: &jobs{list: []string{"a", "b"}}, prior: map[string]state.Entry{"a": onTheWay("a", false)}, chosen: whole,
			undone: "b", kept: "a:kept_recorded", held: "held_between"},
		"it has gone":            {manifest: set, jobs: &jobs{list: []string{"a", "b"}}, gone: []state.Transferred{went("a")}, chosen: whole, purge: "b", kept: "a:kept_as_gone"},
		"a list that fails":      {manifest: set, jobs: &jobs{list: []string{"b"}, failing: errors.New("no list")}, chosen: whole, held: "not_listed"},
		"a list without names":   {manifest: set, jobs: &jobs{list: []string{"", "b"}}, chosen: whole, undone: "b", held: "lists_unnamed"},
		"claims that are unread": {manifest: set, jobs: &jobs{list: []string{"b"}}, chosen: whole, lost: errors.New("lost"), undone: "b", held: "no_claims"},

		"it cannot list":           {manifest: set, jobs: &jobs{mute: true}, wrong: "A type without exclusive sets"},
		"it cannot remove":         {manifest: set, jobs: &jobs{stays: true}, wrong: "A type without exclusive sets"},
		"its memory names objects": {manifest: set, jobs: &jobs{memory: true}, wrong: "A type without exclusive sets"},
		"two sets":                 {manifest: set + strings.Replace(set, `"jobs"`, `"more"`, 1), jobs: &jobs{list: []string{"b"}}, wrong: "Exclusive sets that overlap"},
		"a set of another state": {manifest: set, jobs: &jobs{list: []string{"b"}}, claims: []claims.Record{{Sets: []claims.Set{{Name: "x", Kind: "job"}}}},
			wrong: "Exclusive sets that overlap"},
		"a narrow set of another state": {manifest: strings.Replace(set, "  keep", "  config = { prefix = \"b\" }\n  keep", 1), jobs: &jobs{list: []string{"b"}},
			claims: []claims.Record{{Sets: []claims.Set{{Name: "x", Kind: "job", Within: claims.Within{Prefix: "a"}}}}}, chosen: whole, purge: "b"},

		"begun, and approved":      {manifest: set, jobs: &jobs{list: []string{"b"}}, prior: map[string]state.Entry{`exclusive.jobs["b"]`: begunEntry("b")}, chosen: whole, purge: "b"},
		"begun, and not approved":  {manifest: set, jobs: &jobs{list: []string{"b"}}, prior: map[string]state.Entry{`exclusive.jobs["b"]`: begunEntry("b")}, undone: "b"},
		"begun, and kept now":      {manifest: set, jobs: &jobs{list: []string{"ex"}}, prior: map[string]state.Entry{`exclusive.jobs["ex"]`: begunEntry("ex")}, chosen: whole, kept: "ex:kept_by_name"},
		"begun, and declared now":  {manifest: set + declare("b", ""), jobs: &jobs{list: []string{"b"}}, prior: map[string]state.Entry{`exclusive.jobs["b"]`: begunEntry("b")}, chosen: whole},
		"begun, and without a set": {manifest: declare("c", ""), jobs: &jobs{list: []string{"b"}}, prior: map[string]state.Entry{`exclusive.jobs["b"]`: begunEntry("b")}, chosen: whole},
	}
}

func begunEntry(name string) state.Entry {
	e := entryOf(name)
	e.State, e.ValidAt, e.Dirty = nil, time.Time{}, true
	return e
}

// Nothing is destroyed that is declared, kept, of another state or unread, and nothing at all while a resource of
// the type on the host is not known for certain.
func TestExclusive_WhatBecomesOfEachObject(t *testing.T) {
	t.Parallel()
	for name, c := range setCases() {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			p, diags := c.build(t)
			if c.wrong != "" {
				if d := diags.FirstError(); d == nil || d.Summary != c.wrong {
					t.Errorf("%v, want %q", diags, c.wrong)
				}
				return
			}
			if p == nil || diags.HasErrors() {
				t.Fatal(diags)
			}
			var purge, undone, kept, held []string
			for _, s := range p.Exclusive {
				purge, undone = append(purge, identities(s.Purge)...), append(undone, identities(s.Undone)...)
				for _, item := range s.Kept {
					kept = append(kept, item.Identity+":"+string(item.Why.Code))
				}
				for _, why := range s.Held {
					held = append(held, string(why.Code))
				}
			}
			slices.Sort(held)
			for what, is := range map[string][2]string{"purge": {c.purge, strings.Join(purge, " ")}, "undone": {c.undone, strings.Join(undone, " ")},
				"kept": {c.kept, strings.Join(kept, " ")}, "held": {c.held, strings.Join(held, " ")}} {
				if is[0] != is[1] {
					t.Errorf("%s: %q, want %q", what, is[1], is[0])
				}
			}
			var doomed []string
			for addr, step := range p.Resources {
				if config.ExclusiveSet(addr) != "" && step.Change() == Destroy {
					doomed = append(doomed, addr)
					if !step.NotCreated() || step.Exclusive == "" || step.Reason == nil {
						t.Errorf("%s: %+v", addr, step)
					}
				}
			}
			if len(doomed) != len(purge) {
				t.Errorf("%q are destroyed, and %q are to be purged", doomed, purge)
			}
			if why := p.InvalidOrder(); why != "" {
				t.Error(why)
			}
		})
	}
}

func identities(list []ExclusiveItem) (names []string) {
	for _, item := range list {
		names = append(names, item.Identity)
	}
	return names
}

func (c *setCase) build(t *testing.T) (*Plan, diag.Diagnostics) {
	t.Helper()
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(c.manifest)}}}, nil, config.Builtins{Version: "0.1.0", Home: "/"})
	if len(diags) != 0 {
		t.Fatal(diags)
	}
	prior := state.Snapshot{Resources: c.prior, Unsettled: c.dirty, Transferred: c.gone}
	return Build(t.Context(), m, prior, c.jobs, Options{Parallelism: 8, Selection: c.chosen, Hosts: c.hosts,
		Claims: func(context.Context, *runner.Host) ([]claims.Record, error) { return c.claims, c.lost }})
}

// What a set destroys waits for all resources of the type on the host: the failure of one stops it.
func TestExclusive_PurgesLast(t *testing.T) {
	t.Parallel()
	c := setCase{manifest: hostA + set + declare("a", "") + declare("new", "") + declare("far", "  host = host.a\n") + "resource \"made\" { type = \"id\" }\n",
		jobs: &jobs{list: []string{"a", "b", "c"}}, chosen: Selection{Purge: true}, prior: map[string]state.Entry{"c": entryOf("c")}}
	p, diags := c.build(t)
	if p == nil || len(p.Barriers) == 0 {
		t.Fatal(diags)
	}
	b := p.Barriers[len(p.Barriers)-1]
	if b.OrderOnly || !slices.Equal(b.After, []string{"a", "c", "new"}) || !slices.Equal(b.Before, []string{`exclusive.jobs["b"]`}) {
		t.Errorf("%+v", b)
	}
	if _, what := order.OfNode(b.Name); what != order.Wait {
		t.Errorf("%s is not a barrier", b.Name)
	}
	if step := p.Resources["c"]; step.Change() != observe.Destroy || step.Exclusive != "" {
		t.Errorf("what is no longer declared is destroyed at its own address: %+v", step)
	}
}

// What comes after an object of a set, as its type declares, is destroyed before it, and its failure stops that.
func TestExclusive_PurgesDependantsFirst(t *testing.T) {
	t.Parallel()
	c := setCase{manifest: strings.Replace(set, `"job"`, `"job#part"`, 1), jobs: &jobs{list: []string{"b", "c", "d"}, after: map[string]string{"b": "d", "c": "d", "d": "b"}},
		chosen: Selection{Purge: true}}
	p, diags := c.build(t)
	if p == nil || len(p.Barriers) != 1 {
		t.Fatal(p, diags)
	}
	b := p.Barriers[0]
	if b.OrderOnly || !slices.Equal(b.After, []string{`exclusive.jobs["b"]`, `exclusive.jobs["c"]`}) ||
		!slices.Equal(b.Before, []string{`exclusive.jobs["d"]`}) {
		t.Errorf("%+v", b)
	}
	if _, what := order.OfNode(b.Name); what != order.Wait {
		t.Errorf("%s is not a barrier", b.Name)
	}
}

func (*jobs) Validate(context.Context, typeclient.Target, protocol.Type, json.RawMessage, map[string]string) ([]protocol.Finding, error) {
	return nil, nil
}
