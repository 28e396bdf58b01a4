package apply_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"deployster/apply"
	"deployster/internal/places"
)

// onHosts declares things on hosts: those of a host depend on none but its own.
func onHosts(names ...string) string {
	var b strings.Builder
	for _, host := range []string{"a", "b", "c"} {
		fmt.Fprintf(&b, "host %q {\n  address = %q\n}\n", host, host)
	}
	for _, name := range names {
		host := ""
		if name[0] != 'h' {
			host = fmt.Sprintf("  host = host.%s\n", name[:1])
		}
		b.WriteString(strings.Replace(thing(name), "  config", host+"  config", 1))
	}
	return b.String()
}

// A host is a failure domain, and so is this machine.
func TestRun_StopsAtTheHostThatFailed(t *testing.T) {
	t.Parallel()
	all := []string{"a1", "a2", "a3", "b1", "b2", "c1", "here1", "here2"}
	for _, c := range []struct {
		name    string
		fails   string
		options apply.Options
		left    map[string]string // what was not begun, and why
		hosts   map[string]apply.Status
		started []string
	}{
		{"one host", "a1", apply.Options{},
			map[string]string{"a2": "nothing new was started on a after a failure", "a3": "nothing new was started on a after a failure"},
			map[string]apply.Status{"a": apply.Error, "b": apply.OK, "c": apply.OK}, []string{"b1", "b2", "c1", "here1", "here2"}},
		{"this machine", "here1", apply.Options{}, map[string]string{"here2": "nothing new was started on this machine after a failure"},
			map[string]apply.Status{"a": apply.OK, "b": apply.OK, "c": apply.OK}, []string{"a1", "a2", "a3", "b1", "b2", "c1"}},
		{"keep going", "a1", apply.Options{KeepGoing: true}, nil,
			map[string]apply.Status{"a": apply.Error, "b": apply.OK, "c": apply.OK}, []string{"a2", "a3", "b1", "b2", "c1", "here1", "here2"}},
		{"as many as may have failed", "b1", apply.Options{Hosts: 1, MaxFailedHosts: 1},
			map[string]string{"b2": "nothing new was started on b after a failure", "c1": "no further host was begun after 1 host had failed"},
			map[string]apply.Status{"a": apply.OK, "b": apply.Error, "c": apply.NotStarted}, []string{"a1", "a2", "a3", "here1", "here2"}},
		{"fewer than may", "b1", apply.Options{Hosts: 1, MaxFailedHosts: 2},
			map[string]string{"b2": "nothing new was started on b after a failure"},
			map[string]apply.Status{"a": apply.OK, "b": apply.Error, "c": apply.OK}, []string{"a1", "a2", "a3", "c1", "here1", "here2"}},
		{"nothing", "", apply.Options{Hosts: 2}, nil, map[string]apply.Status{"a": apply.OK, "b": apply.OK, "c": apply.OK}, all},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			e.pins = map[string]places.Pin{"a": {Machine: "ma"}, "b": {Machine: "mb"}, "c": {Machine: "mc"}}
			e.opts.Parallelism = 1
			e.opts.Hosts, e.opts.MaxFailedHosts, e.opts.KeepGoing = c.options.Hosts, c.options.MaxFailedHosts, c.options.KeepGoing
			e.world.Fail(c.fails, true)
			report := e.do(t, onHosts(all...))
			var done []string
			for _, name := range all {
				res := report.Resources[name]
				if res.Status == apply.OK {
					done = append(done, name)
				}
				if reason, left := c.left[name]; left != (res.Status == apply.NotStarted) || left && res.Reason != reason {
					t.Errorf("%s is %s: %s", name, res.Status, res.Reason)
				}
				if name[0] != 'h' && res.Host != name[:1] {
					t.Errorf("%s is on %q", name, res.Host)
				}
			}
			if !slices.Equal(done, c.started) {
				t.Errorf("done were %v", done)
			}
			for host, want := range c.hosts {
				if got := report.Hosts[host]; got.Status != want {
					t.Errorf("%s is %+v, and not %s", host, got, want)
				}
			}
			if want := apply.OK; (report.Status == want) != (c.fails == "") {
				t.Errorf("the apply is %s", report.Status)
			}
		})
	}
}

// With so many hosts at one time each is finished before the next is begun.
func TestRun_RollsOverHosts(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.pins = map[string]places.Pin{"a": {}, "b": {}, "c": {}}
	e.opts.Hosts, e.opts.Parallelism = 1, 4
	var told atomic.Int32
	e.opts.Events = func(ev apply.Event) {
		name, host := "", ""
		switch ev := ev.(type) {
		case apply.ActionStarted:
			name, host = ev.Address, ev.Host
		case apply.ActionEnded:
			name, host = ev.Address, ev.Host
		case apply.ResourceEnded:
			name, host = ev.Address, ev.Report.Host
		default:
			return
		}
		if told.Add(1); host != name[:1] {
			t.Errorf("%T of %s is on %q", ev, name, host)
		}
	}
	e.do(t, onHosts("a1", "a2", "b1", "b2", "c1", "c2"))
	if told.Load() == 0 {
		t.Error("no events")
	}
	order := ""
	for _, line := range e.world.TakeLog() {
		_, name, _ := strings.Cut(line, " ")
		if host := name[:1]; !strings.HasSuffix(order, host) {
			order += host
		}
	}
	if order != "abc" {
		t.Errorf("hosts were acted on in the order %s", order)
	}
}

// A host is its machine, whatever its block is called: also for what is identified in
// apply only, and where no machine was recorded yet.
func TestHosts_Renamed(t *testing.T) {
	t.Parallel()
	for _, recorded := range []string{"m1", ""} {
		e := endings(t)
		on := func(name string, blocks ...string) string {
			host := fmt.Sprintf("host %q {\n  address = %q\n}\n", name, name)
			for _, b := range blocks {
				host += strings.Replace(b, "  config", "  host = host."+name+"\n  config", 1)
			}
			return host
		}
		e.pins = map[string]places.Pin{"a": {Machine: recorded}}
		e.do(t, on("a", thing("p", "v", `"x"`), one("known", "late", "resource.p.state.v", "1"), one("known", "k", `"k"`, "1")))
		e.world.TakeLog()
		e.pins = map[string]places.Pin{"a": {Machine: "m1"}, "b": {Machine: "m1"}}
		now := on("b", thing("p", "v", `"x"`), thing("q", "v", `"x"`), one("known", "late", "resource.q.state.v", "1"), one("known", "k", `"k"`, "1"))
		p, err := e.plan(now)
		if err != nil {
			t.Fatal(err)
		}
		if got := changes(p); got != "k:valid late:deferred p:valid q:create" {
			t.Errorf("recorded %q: planned %s", recorded, got)
		}
		report, err := e.apply(t.Context(), p)
		if err != nil || report.Status != apply.OK {
			t.Errorf("recorded %q: %v %v", recorded, err, summaries(report.Problems))
		}
		if got := strings.Join(e.world.TakeLog(), ", "); got != "make q" {
			t.Errorf("recorded %q: done %s", recorded, got)
		}
		for addr, entry := range e.recorded(t).Resources {
			if at := entry.Settings.Host; at == nil || at.Name != "b" || at.Machine != "m1" {
				t.Errorf("recorded %q: %s is recorded on %+v", recorded, addr, at)
			}
		}
	}
}
