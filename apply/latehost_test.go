package apply_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/plugs"
	"deployster/protocol"
)

// reacher reaches one machine at any address.
type reacher struct {
	machine     string
	reach, look error
	led         error  // of each plug
	home        string // of its user
	follow      bool   // plugs are followed as a host does, on this machine

	mu            sync.Mutex // guards what follows: resources are done side by side
	reached, seen int
}

func (r *reacher) Reach(context.Context, runner.Host) (protocol.HostFacts, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reached++
	return protocol.HostFacts{Machine: r.machine}, r.reach
}

func (r *reacher) Forget(string) {}

func (r *reacher) Look(_ context.Context, _ runner.Host, list []config.Plug) ([]plugs.Resolved, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	led, all := make([]plugs.Resolved, len(list)), map[string]config.Plug{}
	for _, p := range list {
		all[p.Name] = p
	}
	for i, p := range list {
		r.seen++
		if rest, below := strings.CutPrefix(p.Path, "~"); below {
			p.Path = r.home + rest
		}
		if led[i] = (plugs.Resolved{Path: p.Path, Err: r.led}); r.follow {
			led[i].Path, led[i].Err = plugs.ResolveLinks(p, all)
		}
	}
	return led, r.look
}

// onVM declares a machine, and a thing on it; address says how it is reached.
func onVM(e *engine, address, vm, ty string) string {
	return fmt.Sprintf(`plug "world" { path = %q }
host "web" { address = %s }
resource "vm" {
  type   = "test/vm:1"
  config = { size = %q }
}
resource "x" {
  type   = "test/%s:1"
  host   = host.web
  config = { id = "x" }
}
`, e.dir, address, vm, ty)
}

// withVM is an engine with the type test/vm:1, whose things are machines, at the address
// that it returns a pointer to.
func withVM(t *testing.T) (e *engine, ip *string) {
	e = endings(t)
	made, ip := "", new(string)
	*ip = "10.0.0.1"
	vm := &scripted{}
	vm.answer = func(in protocol.StateInput, args []string) (string, int) {
		switch {
		case args[0] != "state":
			made = string(in.Config)
			return "", 0
		case made != string(in.Config):
			return `{"status":"STALE","actions":[{"name":"start","args":["start"]}]}`, 0
		}
		return fmt.Sprintf(`{"status":"VALID","state":{"ip":%q,"n":0}}`, *ip), 0
	}
	e.fake.Add("test/vm:1", vm.program)
	plugged := &scripted{init: `"plugs":{"world":{"container_path":"/world"}},`, answer: func(protocol.StateInput, []string) (string, int) {
		return `{"status":"VALID","state":{}}`, 0
	}}
	e.fake.Add("test/plugged:1", plugged.program)
	e.pins = map[string]router.Pin{"web": {}}
	return e, ip
}

// A host that is made of states is reached at the turn of what is on it, or nothing of
// that is done.
func TestLateHost_IsConnectedAtTheTurnOfItsResources(t *testing.T) {
	t.Parallel()
	const ip = "resource.vm.state.ip"
	for name, c := range map[string]struct {
		address, ty string
		reacher     *reacher
		fails, says string
		unreachable bool
	}{
		"it is reached":               {ip, "known", &reacher{machine: "m1"}, "", "", false},
		"its address is no text":      {`"${10 / resource.vm.state.n}"`, "known", &reacher{}, "config", "ivi", false},
		"its address is not there":    {"resource.vm.state.missing", "known", &reacher{}, "config", "missing", false},
		"nothing can reach it":        {ip, "known", nil, "config", "this program cannot reach hosts", false},
		"it cannot be reached":        {ip, "known", &reacher{reach: &runner.HostError{Err: errors.New("no route")}}, "state", "no route", true},
		"its files cannot be seen":    {ip, "plugged", &reacher{look: &runner.HostError{Err: errors.New("cut off")}}, "state", "cut off", true},
		"a plug leads nowhere there":  {ip, "plugged", &reacher{led: errors.New("no such directory")}, "config", "no such directory", false},
		"a plug leads somewhere here": {ip, "plugged", &reacher{machine: "m1"}, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := withVM(t)
			if c.reacher != nil {
				e.opts.Reacher = c.reacher
			}
			report := e.do(t, onVM(e, c.address, "s", c.ty))
			x := report.Resources["x"]
			if x.Failed != c.fails || !strings.Contains(x.Reason, c.says) {
				t.Errorf("%s %s: %s", x.Status, x.Failed, x.Reason)
			}
			if at := report.Hosts["web"].Status; (at == apply.Unreachable) != c.unreachable {
				t.Errorf("web is %s", at)
			}
			entry, recorded := e.recorded(t).Resources["x"]
			if recorded != (c.fails == "") || recorded && entry.Settings.Host.Machine != "m1" {
				t.Errorf("recorded: %v %+v", recorded, entry.Settings.Host)
			}
			if c.ty == "plugged" && c.reacher.seen != 2 { // that of the step, and all that are declared
				t.Errorf("%d plugs were looked at", c.reacher.seen)
			}
			if c.fails != "" && strings.Contains(e.there(), "x") {
				t.Error("it was made")
			}
		})
	}
}

// What a plan showed for one host is not done on another; what it did not show is done on
// the machine that answers then, if what is recorded is on that too.
func TestLateHost_OfAnotherMachine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ty            string
		size, machine string // of the second apply
		removed       bool   // x is gone meanwhile
		says          string
		planned       string // the machine that answered then; "" = none could be asked
	}{
		"shown, and its address changes":            {"known", "s", "m1", true, "web is reached as 10.0.0.2 now", "m1"},
		"not shown, and its address changes":        {"known", "m", "m1", true, "", "m1"},
		"another machine":                           {"known", "m", "m2", false, "it would be another object than the recorded one", "m1"},
		"another machine, of an older type":         {"older", "m", "m2", false, "it would be another object than the recorded one", "m1"},
		"the same machine, of an older type":        {"older", "m", "m1", true, "", "m1"},
		"shown, and nothing of its address changes": {"older", "s", "m1", false, "", "m1"},
		"no plan could know the machine":            {"known", "m", "m1", false, "", ""},
		"no plan could know the machine, another":   {"older", "m", "m2", false, "it would be another object than the recorded one", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ip := withVM(t)
			at := &reacher{machine: "m1"}
			e.opts.Reacher = at
			e.do(t, onVM(e, "resource.vm.state.ip", "s", c.ty))
			e.pins = map[string]router.Pin{"web": {Machine: c.planned}}
			if c.removed {
				e.world.Set("x", "")
			}
			p, err := e.plan(onVM(e, "resource.vm.state.ip", c.size, c.ty))
			if err != nil {
				t.Fatal(err)
			}
			if at.machine = c.machine; c.removed || c.machine != "m1" {
				*ip = "10.0.0.2"
			}
			e.world.TakeLog()
			report, err := e.apply(t.Context(), p)
			x := report.Resources["x"]
			if err != nil || !strings.Contains(x.Reason, c.says) || (x.Status == apply.Error || x.Status == apply.NotStarted) != (c.says != "") {
				t.Errorf("%s %s %v (%s)", x.Status, x.Reason, err, p.Resources["x"].Change())
			}
			if done := e.done(); c.says != "" && done != "" {
				t.Errorf("done: %s", done)
			}
			if now := e.recorded(t).Resources["x"].Settings.Host; now.Machine != "m1" {
				t.Errorf("it is recorded on %+v", now)
			}
			if c.size == "m" && p.Resources["x"].Change() != plan.Deferred {
				t.Errorf("x is %s", p.Resources["x"].Change())
			}
		})
	}
}

// A link in a plug that other types may write to is not followed on a host that is known
// only now, as on one that the plan could ask. Files of artifacts are in none.
func TestLateHost_LinksOfOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		declared string // of the plug around that of x
		fails    string
	}{
		"others may write there":   {"", "config"},
		"nobody may write there":   {"read_only = true", ""},
		"an artifact is not asked": {"read_only = true", "state"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := withVM(t)
			at := &reacher{machine: "m1", follow: true}
			e.opts.Reacher = at
			shared, elsewhere := t.TempDir(), t.TempDir()
			if err := os.Symlink(elsewhere, filepath.Join(shared, "conf")); err != nil {
				t.Fatal(err)
			}
			manifest := onVM(e, "resource.vm.state.ip", "s", "plugged")
			manifest = strings.Replace(manifest, fmt.Sprintf("{ path = %q }", e.dir),
				fmt.Sprintf("{ path = %q }", filepath.Join(shared, "conf")), 1) +
				fmt.Sprintf("plug \"shared\" {\npath = %q\n%s\n}\n", shared, c.declared)
			p, err := e.plan(manifest)
			if err != nil {
				t.Fatal(err)
			}
			if x := p.Resources["x"]; c.fails == "state" {
				x.Mounts = append(x.Mounts, runner.Mount{Source: artifact.MountSource("key", ""), Target: "/site"})
			}
			report, err := e.apply(t.Context(), p)
			x := report.Resources["x"]
			if err != nil || x.Failed != c.fails || c.fails == "config" && !strings.Contains(x.Reason, `a symbolic link in the plug "shared"`) {
				t.Errorf("%s %s: %s (%v)", x.Status, x.Failed, x.Reason, err)
			}
			if at.seen != 3 {
				t.Errorf("%d plugs were looked at", at.seen)
			}
			if entry := e.recorded(t).Resources["x"]; c.fails == "" && entry.Mounts[0].Source != elsewhere {
				t.Errorf("it was given %+v", entry.Mounts)
			}
		})
	}
}

// Nothing is done on a host that turns out to be the machine of another: neither of one that
// became known before, nor of one that the plan knew. What is not declared any more is none.
func TestLateHost_OneMachine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		other string // a block, and what is on it
		pin   string // the machine of that, as planned
		fails bool
	}{
		"of two that become known": {`address = resource.vm.state.ip`, "", true},
		"of one that was known":    {`address = "10.0.0.9"`, "m1", true},
		"of another machine":       {`address = "10.0.0.9"`, "m2", false},
		"of one that was declared": {"", "m1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := withVM(t)
			e.opts.Reacher, e.opts.KeepGoing = &reacher{machine: "m1"}, true
			e.pins["other"] = router.Pin{Address: c.pin, Machine: c.pin}
			manifest := onVM(e, "resource.vm.state.ip", "s", "known")
			if c.other != "" {
				manifest += fmt.Sprintf("host \"other\" { %s }\n", c.other) + `resource "y" {
  type       = "test/known:1"
  host       = host.other
  config     = { id = "y" }
  depends_on = [resource.vm]
}
`
			}
			report := e.do(t, manifest)
			var failed []string
			for _, addr := range []string{"x", "y"} {
				if r := report.Resources[addr]; r != nil && r.Status == apply.Error {
					failed = append(failed, addr)
					if !strings.Contains(r.Reason, "web (10.0.0.1)") || !strings.Contains(r.Reason, "other (") || strings.Contains(e.there(), addr) {
						t.Errorf("%s: %s; there is %s", addr, r.Reason, e.there())
					}
				}
			}
			if (len(failed) == 1) != c.fails || len(failed) > 1 {
				t.Errorf("failed: %v", failed)
			}
		})
	}
}

// A plug below the home directory is below that of the host's user. While a host is not
// known, that is no other place than the recorded one.
func TestLateHost_Home(t *testing.T) {
	t.Parallel()
	e, ip := withVM(t)
	home := t.TempDir()
	e.opts.Reacher = &reacher{machine: "m1", home: home}
	manifest := func(size string) string {
		return strings.Replace(onVM(e, "resource.vm.state.ip", size, "plugged"), fmt.Sprintf("%q", e.dir), `"~"`, 1)
	}
	made := e.do(t, manifest("s")).Resources["x"]
	if now := e.recorded(t).Resources["x"].Mounts; len(now) != 1 || now[0].Source != home {
		t.Fatalf("recorded: %+v (%s %s)", now, made.Status, made.Reason)
	}
	*ip = "10.0.0.2" // it is known only when the machine has another size
	p, err := e.plan(manifest("m"))
	if err != nil {
		t.Fatal(err)
	}
	if x := p.Resources["x"]; x.Change() != plan.Deferred || x.Old() != nil || x.OtherObject || x.Expected() == plan.Replace {
		t.Errorf("x is %s, expected %s, another %v (%s)", x.Change(), x.Expected(), x.OtherObject, x.Reason.Words())
	}
	report, err := e.apply(t.Context(), p)
	if x := report.Resources["x"]; err != nil || x.Failed != "" {
		t.Errorf("%s %s (%v)", x.Status, x.Reason, err)
	}
	if now := e.recorded(t).Resources["x"]; now.Mounts[0].Source != home || now.Settings.Host.Address != "10.0.0.2" {
		t.Errorf("recorded: %+v on %+v", now.Mounts, now.Settings.Host)
	}
}
