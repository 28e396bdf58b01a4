package apply_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/repair"
	"deployster/protocol"
)

const tried = "resource \"a\" {\n  type = \"test/a:1\"\n  config = {}\n  retry {\n    attempts = 3\n    delay = \"1ms\"\n  }\n}\n"

// A resource that fails is tried again as often as its retry block says, within what
// was agreed to: what its image wants to do otherwise is not done.
func TestRetry_AsOftenAsSet(t *testing.T) {
	t.Parallel()
	two := `{"status":"STALE","staleState":{},"actions":[{"name":"lay","args":["lay"]},{"name":"raise","args":["raise"]}]}`
	last := `{"status":"STALE","staleState":{},"actions":[{"name":"raise","args":["raise"]}]}`
	valid := `{"status":"VALID","state":{}}`
	for name, c := range map[string]struct {
		source string
		answer func(acted []string, args []string) (string, int)
		acted  string
		want   apply.ResourceReport
		stale  bool
	}{
		"the second helps": {tried, func(acted, args []string) (string, int) {
			switch {
			case args[0] == "raise" && len(acted) < 4:
				return "", 1
			case len(acted) == 4:
				return valid, 0
			}
			return two, 0
		}, "lay raise lay raise", apply.ResourceReport{Status: apply.OK, Attempts: 2}, false},
		"only the rest is left": {tried, func(acted, args []string) (string, int) {
			switch {
			case args[0] == "raise" && len(acted) < 4:
				return "", 1
			case len(acted) == 4:
				return valid, 0
			case len(acted) > 0:
				return last, 0
			}
			return two, 0
		}, "lay raise raise raise", apply.ResourceReport{Status: apply.OK, Attempts: 3}, false},
		"none helps": {tried, func(_, args []string) (string, int) {
			if args[0] == "lay" {
				return "", 7
			}
			return two, 0
		}, "lay lay lay", apply.ResourceReport{Status: apply.Error, Failed: "lay", ExitCode: 7, Attempts: 3}, false},
		"the actions do not help": {tried, func(_, _ []string) (string, int) { return two, 0 }, "lay raise lay raise lay raise",
			apply.ResourceReport{Status: apply.Error, Failed: "state", Attempts: 3}, false},
		"it is right although it failed": {tried, func(acted, args []string) (string, int) {
			switch {
			case args[0] == "lay":
				return "", 1
			case len(acted) > 0:
				return valid, 0
			}
			return two, 0
		}, "lay", apply.ResourceReport{Status: apply.OK, Attempts: 2}, false},
		"it wants to do something else": {tried, func(acted, args []string) (string, int) {
			switch {
			case args[0] == "lay":
				return "", 1
			case len(acted) > 0:
				return `{"status":"STALE","staleState":{},"actions":[{"name":"wipe","args":["wipe"]}]}`, 0
			}
			return two, 0
		}, "lay", apply.ResourceReport{Status: apply.Error, Failed: "lay", ExitCode: 1}, true},
		"the rest, and to stop something first": {tried, func(acted, args []string) (string, int) {
			switch {
			case args[0] == "raise":
				return "", 1
			case len(acted) > 0:
				return strings.Replace(last, `"actions"`, `"shutdown_first":{"name":"stop","args":["stop"]},"actions"`, 1), 0
			}
			return two, 0
		}, "lay raise", apply.ResourceReport{Status: apply.Error, Failed: "raise", ExitCode: 1}, true},
		"nothing is said": {strings.Replace(tried, "attempts = 3", "", 1), func(_, args []string) (string, int) {
			if args[0] == "lay" {
				return "", 1
			}
			return two, 0
		}, "lay", apply.ResourceReport{Status: apply.Error, Failed: "lay", ExitCode: 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, s := newEngine(t.TempDir()), &scripted{}
			s.answer = func(_ protocol.StateInput, args []string) (string, int) { return c.answer(s.acted, args) }
			e.fake.Add("test/a:1", s.program)
			var retrying atomic.Int32
			e.opts.Events = func(ev apply.Event) {
				if _, ok := ev.(apply.Retrying); ok {
					retrying.Add(1)
				}
			}
			report := e.do(t, c.source)
			a := report.Resources["a"]
			if a.Status != c.want.Status || a.Failed != c.want.Failed || a.ExitCode != c.want.ExitCode || a.Attempts != c.want.Attempts || a.Stale != nil {
				t.Errorf("%s", encode(a))
			}
			if got := strings.Join(s.acted, " "); got != c.acted {
				t.Errorf("acted %q", got)
			}
			if told := strings.Contains(report.Problems.Error(), "It was not tried again"); told != c.stale {
				t.Errorf("%v", report.Problems)
			}
			if want := max(1, c.want.Attempts); !c.stale && int(retrying.Load()) != want-1 {
				t.Errorf("%d retries were told, of %d attempts", retrying.Load(), want)
			}
		})
	}
}

// Where only drift is approved, a second attempt at it is as well.
func TestRetry_OfARepair(t *testing.T) {
	t.Parallel()
	e, right, fails := newEngine(t.TempDir()), false, 0
	s := &scripted{answer: func(_ protocol.StateInput, args []string) (string, int) {
		switch {
		case args[0] == "make" && fails > 0:
			fails--
			return "", 1
		case args[0] == "make":
			right = true
		case right:
			return `{"status":"VALID","state":{}}`, 0
		}
		return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
	}}
	e.fake.Add("test/a:1", s.program)
	e.do(t, tried)
	right, fails = false, 2
	e.opts.Deferred, e.opts.Kinds = apply.DeferredByKinds, []plan.Change{repair.Kind}
	if report := e.do(t, tried); report.Resources["a"].Status != apply.OK || len(s.acted) != 4 {
		t.Errorf("acted %q: %s", s.acted, encode(report))
	}
}

// An interrupt ends the pause before an attempt, and none follows it; and an action
// of which nobody knows how it ended is never run again.
func TestRetry_NotAfter(t *testing.T) {
	t.Parallel()
	for name, unknown := range map[string]bool{"an interrupt": false, "an unknown end": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t.TempDir())
			s := &scripted{answer: func(_ protocol.StateInput, args []string) (string, int) {
				if args[0] == "make" {
					return "", 1
				}
				return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
			}}
			e.fake.Add("test/a:1", s.program)
			p, err := e.plan(strings.Replace(tried, `"1ms"`, `"5m"`, 1))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			e.opts.Events = func(ev apply.Event) {
				if _, ok := ev.(apply.Retrying); ok {
					cancel()
				}
			}
			if unknown {
				e.runner = losing{e.fake, "a/make"}
			}
			report, err := e.apply(ctx, p)
			want := apply.Error
			if unknown {
				want = apply.Unknown
			}
			if a := report.Resources["a"]; err != nil || a.Status != want || a.Attempts != 0 || !unknown && len(s.acted) != 1 || (ctx.Err() == nil) != unknown {
				t.Errorf("%v, acted %q: %s", err, s.acted, encode(a))
			}
		})
	}
}

// crowd is a type whose resources act for a while, and that counts how many of each
// kind, the word in their config, do so at one time.
type crowd struct {
	mu           sync.Mutex
	acting, most map[string]int
	done         map[string]bool
}

func (c *crowd) program(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
	if len(s.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"state_action":{"args":["state"]}}`)
		return 0
	}
	var in struct{ Config struct{ Name, Kinds string } }
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return 90
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case s.Args[0] == "state" && c.done[in.Config.Name]:
		_, _ = io.WriteString(stdout, `{"status":"VALID","state":{}}`)
	case s.Args[0] == "state":
		_, _ = io.WriteString(stdout, `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`)
	default:
		for kind := range strings.FieldsSeq(in.Config.Kinds) {
			c.acting[kind]++
			c.most[kind] = max(c.most[kind], c.acting[kind])
		}
		for range 6000 { // on a machine with much else to do, others come late
			c.mu.Unlock()
			time.Sleep(10 * time.Millisecond)
			c.mu.Lock()
			if c.most["two"] >= 2 && c.most["none"] >= 2 {
				break
			}
		}
		for kind := range strings.FieldsSeq(in.Config.Kinds) {
			c.acting[kind]--
		}
		c.done[in.Config.Name] = true
	}
	return 0
}

// No more resources act at one time than their semaphore has slots, in whatever order
// they name theirs; others are not held up.
func TestSemaphores_BoundWhoActs(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	e.opts.Parallelism = 16
	c := &crowd{acting: map[string]int{}, most: map[string]int{}, done: map[string]bool{}}
	e.fake.Add("test/a:1", c.program)
	source := "semaphore \"one\" {}\nsemaphore \"two\" {\n  slots = 2\n}\n"
	for i := range 4 {
		for name, kinds := range map[string]string{"both": "one two", "turned": "two one", "wide": "two", "free": "none"} {
			list := "semaphores = [semaphore." + strings.ReplaceAll(kinds, " ", ", semaphore.") + "]"
			if name == "free" {
				list = ""
			}
			source += fmt.Sprintf("resource \"%s%d\" {\n  type = \"test/a:1\"\n  config = { Name = \"%s%d\", Kinds = %q }\n  %s\n}\n", name, i, name, i, kinds, list)
		}
	}
	if report := e.do(t, source); report.Status != apply.OK {
		t.Fatal(encode(report))
	}
	if c.most["one"] != 1 || c.most["two"] != 2 || c.most["none"] < 2 {
		t.Errorf("at one time acted %v", c.most)
	}
}

// Who waits for a semaphore is let go by an interrupt, and has done nothing.
func TestSemaphores_Interrupted(t *testing.T) {
	t.Parallel()
	e := newEngine(t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := &scripted{answer: func(_ protocol.StateInput, args []string) (string, int) {
		if args[0] == "make" {
			cancel()
			time.Sleep(10 * time.Millisecond)
			return "", 1
		}
		return `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`, 0
	}}
	e.fake.Add("test/a:1", s.program)
	one := "resource \"a\" {\n  type = \"test/a:1\"\n  config = {}\n  semaphores = [semaphore.one]\n}\n"
	p, err := e.plan("semaphore \"one\" {}\n" + one + strings.Replace(one, `"a"`, `"b"`, 1))
	if err != nil {
		t.Fatal(err)
	}
	report, err := e.apply(ctx, p)
	waited := 0
	for _, r := range report.Resources {
		if r.Status == apply.Interrupted && strings.Contains(r.Reason, "semaphore") || r.Status == apply.NotStarted {
			waited++
		}
	}
	if err != nil || len(s.acted) != 1 || waited != 1 {
		t.Errorf("%v, acted %q: %s", err, s.acted, encode(report))
	}
}

// What a person has said no to is not tried again, nor asked again.
func TestRetry_NotAfterANo(t *testing.T) {
	t.Parallel()
	e, s := newEngine(t.TempDir()), &scripted{}
	s.answer = func(_ protocol.StateInput, _ []string) (string, int) {
		return `{"status":"STALE","staleState":{},"actions":[{"name":"lay","args":["lay"]},{"name":"raise","args":["raise"]}]}`, 0
	}
	e.fake.Add("test/a:1", s.program)
	who := &person{answers: []apply.Answer{apply.Yes, apply.No, apply.No}}
	e.opts.Confirm, e.opts.Ask = apply.ConfirmAction, who.ask
	a := e.do(t, tried).Resources["a"]
	if a.Status != apply.Error || a.Reason != "not approved" || a.Attempts != 0 || len(who.asked) != 2 || strings.Join(s.acted, " ") != "lay" {
		t.Errorf("asked %q, acted %q: %s", who.asked, s.acted, encode(a))
	}
}
