package apply_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/remote/router"
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
			e.pins = map[string]router.Pin{"a": {Machine: "ma"}, "b": {Machine: "mb"}, "c": {Machine: "mc"}}
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
	e.pins = map[string]router.Pin{"a": {}, "b": {}, "c": {}}
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
		e.pins = map[string]router.Pin{"a": {Machine: recorded}}
		e.do(t, on("a", thing("p", "v", `"x"`), one("known", "late", "resource.p.state.v", "1"), one("known", "k", `"k"`, "1")))
		e.world.TakeLog()
		e.pins = map[string]router.Pin{"a": {Machine: "m1"}, "b": {Machine: "m1"}}
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

// rolling declares f on each host, l on this machine after all of them, and g on each host
// after l.
func rolling(v int) string {
	b := onHosts("af", "bf", "cf")
	b += thing("hl", "v", fmt.Sprint(v), "a", "resource.af.state.v", "b", "resource.bf.state.v", "c", "resource.cf.state.v")
	for _, host := range []string{"a", "b", "c"} {
		b += strings.Replace(thing(host+"g", "v", "resource.hl.state.v"), "  config", "  host = host."+host+"\n  config", 1)
	}
	return strings.ReplaceAll(b, "config = {\n  }", "config = {\n    v = 1\n  }")
}

// ofHosts is an engine for an apply that does one host at a time and stops at the first that
// has failed.
func ofHosts(t *testing.T) *engine {
	t.Helper()
	e := newEngine(t.TempDir())
	e.pins = map[string]router.Pin{"a": {Machine: "ma"}, "b": {Machine: "mb"}, "c": {Machine: "mc"}}
	e.opts.Hosts, e.opts.MaxFailedHosts, e.opts.Parallelism = 1, 1, 4
	return e
}

// A host is begun when its first action starts, whatever else was done there.
func TestRun_HostsBeginWithTheirFirstAction(t *testing.T) {
	t.Parallel()
	only := onHosts("af", "bf", "cf")
	only = strings.ReplaceAll(only, "config = {\n  }", "config = {\n    v = 1\n  }")
	for name, c := range map[string]struct {
		first  string // applied before
		atOnce int
		want   []string
	}{
		"unchanged before":               {only, 1, []string{"make hl"}},
		"unchanged, all hosts at once":   {only, 3, []string{"make hl"}},
		"begun before":                   {"", 1, []string{"make af", "make bf", "make cf", "make hl", "make bg", "make cg"}},
		"known only at its turn to fail": {rolling(0), 1, []string{"change hl"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := ofHosts(t)
			if e.opts.Hosts = c.atOnce; c.atOnce > 1 {
				fails := make(chan struct{})
				e.opts.Events = func(ev apply.Event) { // ag fails before another action begins
					switch ev := ev.(type) {
					case apply.Checking:
						if ev.Address == "bg" || ev.Address == "cg" {
							<-fails
						}
					case apply.ResourceEnded:
						if ev.Address == "ag" && ev.Report.Status == apply.Error {
							close(fails)
						}
					}
				}
			}
			if c.first != "" {
				e.do(t, c.first)
			}
			e.world.TakeLog()
			e.world.Fail("ag", true)
			report := e.do(t, rolling(1))
			if got := e.world.TakeLog(); !slices.Equal(got, c.want) {
				t.Errorf("done: %q, and not %q", got, c.want)
			}
			begun := slices.Contains(c.want, "make bg")
			for _, addr := range []string{"bg", "cg"} {
				res := report.Resources[addr]
				held := res.Status == apply.NotStarted && res.Reason == "no further host was begun after 1 host had failed"
				if held == begun {
					t.Errorf("%s: %s", addr, encode(res))
				}
			}
			if h := report.Hosts["b"].Status; (h == apply.NotStarted) == begun {
				t.Errorf("b is %s", h)
			}
		})
	}
}

// A run that continues a killed one knows which hosts that had begun, and which had failed.
func TestRun_ResumesARollingApply(t *testing.T) {
	t.Parallel()
	source := onHosts("a1", "b1", "b2", "c1")
	for _, c := range []struct {
		name   string
		facts  int // that the killed run has recorded
		most   int // failed hosts in the killed run
		fails  string
		begins []string // in the run that continues it
	}{
		{"killed after the failure was recorded", 3, 1, "a1", []string{"a1"}},
		{"killed after the end of the failed action", 2, 1, "a1", []string{"a1"}},
		{"killed on a host that was begun", 6, 0, "a1", []string{"a1", "b2"}},
		{"nothing failed", 6, 1, "", []string{"b2", "c1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := ofHosts(t)
			p, err := e.plan(source)
			if err != nil {
				t.Fatal(err)
			}
			e.world.Fail(c.fails, true)
			e.opts.MaxFailedHosts = c.most
			e.dieAfter(t, c.facts, p)
			e.world.Fail(c.fails, false)
			e.opts.MaxFailedHosts = 1
			e.world.TakeLog()
			var begun []string
			e.opts.Events = func(ev apply.Event) {
				if a, is := ev.(apply.ActionStarted); is && !slices.Contains(begun, a.Address) {
					begun = append(begun, a.Address)
				}
			}
			report, err := e.apply(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(begun, c.begins) {
				t.Errorf("begun: %q, and not %q", begun, c.begins)
			}
			const why = "no further host was begun after 1 host had failed, in the interrupted run of this plan"
			if res := report.Resources["c1"]; (res.Reason == why) != (c.fails == "a1") {
				t.Errorf("c1: %s", encode(res))
			}
		})
	}
}
