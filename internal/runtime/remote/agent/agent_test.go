package agent

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"deployster/internal/base/proc"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner/runnertest"
)

// local returns a machine with a data directory.
func local(dir string) *Machine {
	r := runnertest.Runtime{Fake: runnertest.NewFake()}
	return New(Options{Runner: r, DataDir: dir, Build: "b1", Runc: "1.4.3", Look: func(p remote.Plug, _ []remote.Plug) (string, error) { return p.Path, nil }})
}

func TestMachine_ReportsWhatItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	welcome, err := local(dir).Enter(context.Background(), remote.Hello{})
	if err != nil {
		t.Fatal(err)
	}
	name, _ := os.Hostname()
	f := welcome.Facts
	if f.Hostname != name || f.CPUs < 1 || f.Memory < 1<<20 || f.Kernel == "" || f.Arch == "" || len(f.Machine) != 32 || welcome.Boot == "" {
		t.Errorf("%+v", welcome)
	}
	if welcome.Runc != "1.4.3" || welcome.Free < 1 {
		t.Errorf("runc %q, %d bytes free", welcome.Runc, welcome.Free)
	}
	again, err := local(dir).Enter(context.Background(), remote.Hello{})
	if err != nil || again.Facts.Machine != f.Machine {
		t.Errorf("it is another machine: %v, %v", again.Facts.Machine, err)
	}
	other, err := local(t.TempDir()).Enter(context.Background(), remote.Hello{})
	if err != nil || other.Facts.Machine == f.Machine {
		t.Errorf("two data directories are one machine: %v", err)
	}
}

func TestFence_LetsTheLatestAct(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), context.Background()
	hello := func(epoch int64, run string) remote.Hello {
		return remote.Hello{Lineage: "l1", Epoch: epoch, Run: run, Process: "apply " + run}
	}
	first, second := local(dir), local(dir)
	if _, err := first.Enter(ctx, hello(3, "a")); err != nil {
		t.Fatal(err)
	}
	if err := first.Acts(ctx, hello(3, "a")); err != nil {
		t.Errorf("the only one: %v", err)
	}
	for _, turn := range []uint64{7, 8} {
		if _, err := local(dir).Enter(ctx, remote.Hello{Lineage: "l3", Epoch: 3, Run: fmt.Sprint(turn), Store: "s", Turn: turn}); err != nil {
			t.Errorf("the turn %d: %v", turn, err)
		}
	}
	for _, c := range []struct {
		name  string
		hello remote.Hello
	}{
		{"an older epoch", hello(2, "z")},
		{"an earlier turn of the same epoch", remote.Hello{Lineage: "l3", Epoch: 3, Run: "z", Store: "s", Turn: 6}},
		{"no lineage", remote.Hello{Epoch: 9}},
		{"a lineage that is a path", remote.Hello{Lineage: "../x", Epoch: 9}},
	} {
		if _, err := local(dir).Enter(ctx, c.hello); err == nil {
			t.Errorf("%s is let in", c.name)
		}
	}
	if _, err := second.Enter(ctx, hello(4, "b")); err != nil {
		t.Fatal(err)
	}
	if err := first.Acts(ctx, hello(3, "a")); err == nil || !strings.Contains(err.Error(), "apply b has taken over here") {
		t.Errorf("the one before: %v", err)
	}
	if err := second.Acts(ctx, hello(4, "b")); err != nil {
		t.Errorf("the latest: %v", err)
	}
	other := local(dir)
	if _, err := other.Enter(ctx, remote.Hello{Lineage: "l2", Epoch: 1, Run: "c"}); err != nil {
		t.Errorf("for another state: %v", err)
	}
	looking := local(dir)
	if _, err := looking.Enter(ctx, remote.Hello{Lineage: "l1"}); err != nil {
		t.Errorf("one who looks: %v", err)
	}
	if err := looking.Acts(ctx, remote.Hello{Lineage: "l1"}); err == nil {
		t.Error("one who looks may act")
	}
}

// A command may end before it has recorded anything, killed or because a person says
// no: the next one has the same epoch, and the first does not come back.
func TestFence_LetsTheNextHolderOfAFileAct(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), context.Background()
	first, next := local(dir), local(dir)
	if _, err := first.Enter(ctx, remote.Hello{Lineage: "l1", Epoch: 3, Run: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := next.Enter(ctx, remote.Hello{Lineage: "l1", Epoch: 3, Run: "b"}); err != nil {
		t.Fatal(err)
	}
	if err := next.Acts(ctx, remote.Hello{Lineage: "l1", Epoch: 3, Run: "b"}); err != nil {
		t.Error(err)
	}
	if err := first.Acts(ctx, remote.Hello{Lineage: "l1", Epoch: 3, Run: "a"}); err == nil {
		t.Error("the one before may still act")
	}
}

// A client that has acted has that in its state, so that the next one of this state has a later
// epoch. Another one with the same epoch has an older copy of the state, or a state that the same
// plan begins again.
func TestFence_RefusesAStateWithoutWhatWasDone(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), context.Background()
	first := remote.Hello{Lineage: "l1", Epoch: 1, Run: "a", Process: "apply a"}
	acts := func(h remote.Hello) error {
		at := local(dir)
		_, err := at.Enter(ctx, h)
		if err == nil {
			err = at.Acts(ctx, h)
		}
		return err
	}
	for range 2 { // it connects again
		if err := acts(first); err != nil {
			t.Fatal(err)
		}
	}
	for name, h := range map[string]remote.Hello{
		"a file":  {Lineage: "l1", Epoch: 1, Run: "b"},
		"a store": {Lineage: "l1", Epoch: 1, Run: "b", Store: "s", Turn: 5},
	} {
		if err := acts(h); err == nil || !strings.Contains(err.Error(), "apply a has changed this machine already") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := acts(remote.Hello{Lineage: "l1", Epoch: 2, Run: "b"}); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// The far end of the client before is ended, and never another process that has
// got its number.
func TestFence_EndsThePreviousAgent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		mine   bool // the fence is of that process
		killed bool
	}{{"its process", true, true}, {"another process", false, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sleeper := exec.Command("sleep", "1000")
			if err := sleeper.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- sleeper.Wait() }()
			defer func() { _ = sleeper.Process.Kill() }()
			f := fence{PID: sleeper.Process.Pid, Started: "1"}
			if c.mine {
				f.Started = proc.Of(f.PID).Since()
			}
			if err := end(f); err != nil {
				t.Error(err)
			}
			if gone := proc.Of(f.PID).Since() == ""; gone != c.killed {
				t.Errorf("gone: %v", gone)
			}
		})
	}
}
