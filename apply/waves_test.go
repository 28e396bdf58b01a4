package apply_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/apply"
	"deployster/apply/turns"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote/router"
)

// fleet is hosts with names of one letter, each in a zone, and with the things 1 and 2.
type fleet struct {
	*engine
	hosts string
	zones map[byte]string

	mu    sync.Mutex // guards what follows
	waves [][]string
	after func(soak apply.WaveSoaking) // called when a soak begins; may be nil
}

// newFleet returns a fleet that is applied in waves of these sizes.
func newFleet(t *testing.T, hosts, sizes string) *fleet {
	t.Helper()
	f := &fleet{engine: newEngine(t.TempDir()), hosts: hosts}
	f.pins = map[string]router.Pin{}
	for _, h := range hosts {
		f.pins[string(h)] = router.Pin{Machine: "m" + string(h)}
	}
	var err error
	if f.engine.waves.Sizes, err = turns.ParseSizes(sizes); err != nil {
		t.Fatal(err)
	}
	f.opts.Events = func(ev apply.Event) {
		switch ev := ev.(type) {
		case apply.WaveSoaking:
			if f.after != nil {
				f.after(ev)
			}
		case apply.WaveEnded:
			f.mu.Lock()
			defer f.mu.Unlock()
			f.waves = append(f.waves, ev.Wave.Hosts)
		}
	}
	return f
}

// source declares the fleet with things of a value.
func (f *fleet) source(v int, more ...string) string {
	var b strings.Builder
	for i := range f.hosts {
		h := f.hosts[i : i+1]
		labels := ""
		if zone := f.zones[h[0]]; zone != "" {
			labels = fmt.Sprintf("  labels = { zone = %q }\n", zone)
		}
		fmt.Fprintf(&b, "host %q {\n  address = %q\n%s}\n", h, h, labels)
		for _, n := range []string{"1", "2"} {
			b.WriteString(strings.Replace(thing(h+n, "v", fmt.Sprint(v)), "  config", "  host = host."+h+"\n  config", 1))
		}
	}
	return b.String() + strings.Join(more, "")
}

// gateOf writes a check that is a gate.
func gateOf(name, condition string) string {
	return fmt.Sprintf("check %q {\n  gate = true\n  assert {\n    condition = %s\n    error_message = \"it is not so\"\n  }\n}\n", name, condition)
}

func (f *fleet) wants(t *testing.T, report *apply.Report, waves string) {
	t.Helper()
	var reported [][]string
	for _, w := range report.Waves {
		reported = append(reported, w.Hosts)
	}
	if got := fmt.Sprint(f.waves); got != waves || fmt.Sprint(reported) != waves {
		t.Errorf("waves %s, reported %v; want %s", got, reported, waves)
	}
}

// Hosts begin in waves: the last size repeats, and percentages of the plan's hosts are rounded up.
func TestWaves_AsListed(t *testing.T) {
	t.Parallel()
	for sizes, want := range map[string]string{
		"1,25%,50%": "[[a] [b c d] [e f g h i]]",
		"2,3":       "[[a b] [c d e] [f g h] [i]]",
		"12%":       "[[a b] [c d] [e f] [g h] [i]]",
		"100%":      "[[a b c d e f g h i]]",
		"4":         "[]", // as many concurrently: there is nothing between them
	} {
		t.Run(sizes, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, "abcdefghi", sizes)
			report := f.do(t, f.source(1))
			f.wants(t, report, want)
			if report.Status != apply.OK || len(f.world.Things()) != 18 {
				t.Errorf("%s, %d things", report.Status, len(f.world.Things()))
			}
		})
	}
}

// A host on which no action starts takes no place in a wave.
func TestWaves_CountHostsWithActions(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "ab", "1,3")
	f.do(t, f.source(1))
	f.hosts, f.waves = "abcdef", nil
	for _, h := range "cdef" {
		f.pins[string(h)] = router.Pin{Machine: "m" + string(h)}
	}
	f.wants(t, f.do(t, f.source(1)), "[[c] [d e f]]")
}

// What depends on other hosts waits for their waves, and its own has ended before.
func TestWaves_DependOnEachOther(t *testing.T) {
	t.Parallel()
	e := ofHosts(t)
	e.waves = turns.Waves{Sizes: []turns.Size{{N: 1}, {N: 1}}}
	report := e.do(t, rolling(1))
	if got := e.world.TakeLog(); report.Status != apply.OK || !slices.Equal(got[:4], []string{"make af", "make bf", "make cf", "make hl"}) {
		t.Errorf("%s: %q", report.Status, got)
	}
	if len(report.Waves) != 3 {
		t.Errorf("%+v", report.Waves)
	}
}

// The resources of a wave are queried again after its soak: where one is not VALID, its host has failed.
func TestWaves_SoakFindsWhatBroke(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		now  string // of the thing a2 after the soak
		most int
		want string // the waves
	}{
		"as it was":                 {`{"v":1}`, 1, "[[a] [b c]]"},
		"changed":                   {`{"v":7}`, 1, "[[a]]"},
		"gone":                      {"", 1, "[[a]]"},
		"changed, and more may be":  {`{"v":7}`, 2, "[[a] [b c]]"},
		"changed, and all may fail": {`{"v":7}`, 0, "[[a] [b c]]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, "abc", "1,2")
			f.engine.waves.Soak, f.opts.MaxFailedHosts = time.Millisecond, c.most
			f.after = func(s apply.WaveSoaking) {
				if s.Number == 1 {
					f.world.Set("a2", c.now)
				}
			}
			report := f.do(t, f.source(1))
			f.wants(t, report, c.want)
			broke, held := name != "as it was", c.want == "[[a]]"
			if res := report.Resources["a2"]; (res.Failed == "soak" && res.Status == apply.Error) != broke {
				t.Errorf("a2: %s", encode(res))
			}
			if got := report.Hosts["a"].Status == apply.Error && report.Waves[0].Status == apply.Error && report.Status == apply.Error; got != broke {
				t.Errorf("%s, %+v, %+v", report.Status, report.Hosts, report.Waves)
			}
			if got := report.Resources["c1"]; (got.Reason == "no further host was begun after 1 host had failed") != held {
				t.Errorf("c1: %s", encode(got))
			}
			p, err := f.plan(f.source(1))
			if err != nil {
				t.Fatal(err)
			}
			if got := changes(p); strings.Contains(got, "a2:valid") == broke {
				t.Errorf("the next plan: %s", got)
			}
		})
	}
}

// A gate that fails starts no further wave, and calls no host failed. One that does not know its values
// yet, and a check that is no gate, stop nothing.
func TestWaves_GateFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		checks []string
		want   string
		gates  []string // failed, of the last wave
	}{
		"fails":                {[]string{gateOf("small", "resource.a1.state.v > 1"), gateOf("any", "true")}, "[[a]]", []string{"small"}},
		"is not known yet":     {[]string{gateOf("last", "resource.c1.state.v == 1")}, "[[a] [b] [c]]", nil},
		"fails at the second":  {[]string{gateOf("later", "resource.b2.state.v > 1")}, "[[a] [b]]", []string{"later"}},
		"fails after the last": {[]string{gateOf("late", "resource.c2.state.v > 1")}, "[[a] [b] [c]]", []string{"late"}},
		"is not a gate":        {[]string{strings.Replace(gateOf("plain", "resource.a1.state.v > 1"), "  gate = true\n", "", 1)}, "[[a] [b] [c]]", nil},
		"is none, so it says": {[]string{strings.Replace(gateOf("plain", "resource.a1.state.v > 1"), "gate = true", "gate = false", 1)},
			"[[a] [b] [c]]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, "abc", "1,1")
			report := f.do(t, f.source(1, c.checks...))
			f.wants(t, report, c.want)
			last := report.Waves[len(report.Waves)-1]
			stopped := c.want != "[[a] [b] [c]]"
			if !slices.Equal(last.FailedGates, c.gates) || (last.Status == apply.Incomplete) != stopped {
				t.Errorf("the last wave: %+v", last)
			}
			want := map[bool]apply.Status{true: apply.Incomplete, false: apply.OK}[stopped]
			if report.Status != want {
				t.Errorf("the apply is %s, want %s: %v", report.Status, want, summaries(report.Problems))
			}
			for host, res := range report.Hosts {
				begun := strings.Contains(c.want, host)
				if status := map[bool]apply.Status{true: apply.OK, false: apply.NotStarted}[begun]; res.Status != status {
					t.Errorf("%s is %+v, want %s", host, res, status)
				}
			}
			if why := report.Resources["c1"].Reason; stopped != strings.HasPrefix(why, "no further wave was started: the gate "+strings.Join(c.gates, "")) {
				t.Errorf("c1: %q", why)
			}
			warned := slices.ContainsFunc(report.Problems, func(d *diag.Diagnostic) bool { return d.Summary == "No further wave was started" })
			if warned != stopped {
				t.Errorf("problems: %v", summaries(report.Problems))
			}
		})
	}
}

// A manifest with a gate is applied in waves also with one number of hosts.
func TestWaves_OfOneNumberWithAGate(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "abc", "2")
	f.wants(t, f.do(t, f.source(1, gateOf("any", "true"))), "[[a b] [c]]")
}

// An interrupt ends the soak, also that of the last wave: what was not seen is not done.
func TestWaves_InterruptedWhileItSoaks(t *testing.T) {
	t.Parallel()
	for _, sizes := range []string{"1,1", "3"} {
		t.Run(sizes, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, "abc", sizes)
			f.engine.waves.Soak = time.Hour
			ctx, cancel := context.WithCancel(t.Context())
			f.after = func(apply.WaveSoaking) { cancel() }
			p, err := f.plan(f.source(1))
			if err != nil {
				t.Fatal(err)
			}
			report, err := f.apply(ctx, p)
			if err != nil || report.Status != apply.Interrupted || len(report.Waves) != 1 || report.Waves[0].Status != apply.Interrupted {
				t.Errorf("%v: %s %+v", err, report.Status, report.Waves)
			}
		})
	}
}

// A run that continues a killed one continues its wave, and what follows that is done again.
func TestWaves_AreResumed(t *testing.T) {
	t.Parallel()
	for facts, want := range map[int]string{
		3:  "[[a] [b c] [d]]", // a1 is done, and a2 is not
		6:  "[[a] [b c] [d]]", // a is done, and its soak was not
		9:  "[[a b c] [d]]",   // b is begun
		18: "[[a b c] [d]]",   // b and c are done
	} {
		t.Run(fmt.Sprint(facts), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, "abcd", "1,2")
			f.opts.Parallelism = 1
			p, err := f.plan(f.source(1))
			if err != nil {
				t.Fatal(err)
			}
			f.dieAfter(t, facts, p)
			f.waves = nil
			report, err := f.apply(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			f.wants(t, report, want)
		})
	}
}

// A host that has failed after its soak has failed also in the run that continues the killed one.
func TestWaves_FailuresAreResumed(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "abc", "1,1")
	f.engine.waves.Soak, f.opts.MaxFailedHosts = time.Millisecond, 1
	f.after = func(apply.WaveSoaking) { f.world.Set("a2", `{"v":7}`) }
	p, err := f.plan(f.source(1))
	if err != nil {
		t.Fatal(err)
	}
	f.dieAfter(t, 8, p) // three facts of each thing, what a2 is now, and that it has failed
	f.after, f.waves = nil, nil
	report, err := f.apply(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	const why = "no further host was begun after 1 host had failed"
	if res := report.Resources["c1"]; !strings.HasPrefix(res.Reason, why) || report.Hosts["a"].Status != apply.Error {
		t.Errorf("c1: %s; a: %+v", encode(res), report.Hosts["a"])
	}
}

// A shutdown_first begins its host before all waves, which then is in the first.
func TestWaves_ShutdownsBeginTheirHosts(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "abcd", "1,1")
	world := newServices(f.engine)
	svc := func(v int) string {
		all := strings.ReplaceAll(f.source(v), "test/thing:1", "test/svc:1")
		return strings.Replace(all, `"test/svc:1"`, `"test/thing:1"`, 1) // a1 needs no stop
	}
	f.hosts = "abc"
	f.do(t, svc(1))
	f.hosts, f.waves, f.engine.waves.Soak, world.log = "abcd", nil, time.Millisecond, nil
	f.after = func(s apply.WaveSoaking) {
		world.mu.Lock()
		defer world.mu.Unlock()
		if done := strings.Count(strings.Join(world.log, " "), "change "); s.Number == 1 && done != 5 {
			t.Errorf("%d of 5 were changed at the soak: %q", done, world.log)
		}
	}
	report := f.do(t, svc(2))
	f.wants(t, report, "[[a b c] [d]]")
	if len(report.Shutdown) != 5 {
		t.Errorf("shutdowns: %+v", report.Shutdown)
	}
}

// With a label, its values are what is counted.
func TestWaves_ByALabel(t *testing.T) {
	t.Parallel()
	f := newFleet(t, "abcde", "1")
	f.zones = map[byte]string{'a': "x", 'b': "y", 'c': "x", 'd': "z", 'e': "y"}
	f.engine.waves = turns.Waves{By: "zone"}
	f.wants(t, f.do(t, f.source(1)), "[[a c] [b e] [d]]")
	f.waves, f.engine.waves.Sizes = nil, []turns.Size{{N: 1}, {N: 50, Percent: true}}
	f.wants(t, f.do(t, f.source(2)), "[[a c] [b d e]]")
}

// Each declared host has the label, and one of the plan's has it.
func TestWaves_WithoutTheLabel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		zones map[byte]string
		hosts string // that are still declared
		want  string
	}{
		"one lacks it":   {map[byte]string{'a': "x", 'c': "x"}, "abc", "Without it: host.b."},
		"all lack it":    {nil, "abc", "Without it: host.a, host.b, host.c."},
		"all are gone":   {nil, "", "No host of the plan has it."},
		"others are not": {map[byte]string{'a': "x", 'c': "x"}, "ac", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, "abc", "1")
			f.do(t, f.source(1))
			f.hosts, f.zones, f.waves, f.engine.waves = c.hosts, c.zones, nil, turns.Waves{By: "zone"}
			p, err := f.plan(f.source(2))
			if err != nil {
				t.Fatal(err)
			}
			report, err := f.apply(t.Context(), p)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %s", err, c.want)
			}
			if err == nil {
				f.wants(t, report, "[[a c] [b]]")
			}
		})
	}
}
