package typeclient

import (
	"context"
	"io"
	"sync/atomic"
	"testing"

	"deployster/internal/runtime/runner"
)

type memory map[string][]byte

func (m memory) Get(key string) ([]byte, bool) { b, ok := m[key]; return b, ok }
func (m memory) Put(key string, answer []byte) { m[key] = answer }

// What an image is, is asked once for all commands, unless it asks to be asked
// each time; another image, other settings and another version are asked anew.
func TestInitCache_IsUsed(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	answer := minimal
	program := func(_ context.Context, _ runner.Spec, _ io.Reader, stdout, _ io.Writer) int {
		asked.Add(1)
		_, _ = io.WriteString(stdout, answer)
		return 0
	}
	kept := memory{}
	inits := func(want int32, change func(*Options, *Target)) {
		t.Helper()
		target := target()
		c, _ := client(program, func(o *Options) { o.Inits = kept; change(o, &target) })
		before := asked.Load()
		if ty, err := c.Init(t.Context(), target); err != nil || ty.Digest == "" || ty.Reference != target.Reference || len(ty.StateAction.Args) != 1 {
			t.Errorf("%+v, %v", ty, err)
		}
		if got := asked.Load() - before; got != want {
			t.Errorf("it was asked %d times, not %d", got, want)
		}
	}
	same := func(*Options, *Target) {}
	inits(1, same)
	inits(0, same)
	inits(1, func(o *Options, _ *Target) { o.Version = "0.2.0" })
	inits(1, func(_ *Options, t *Target) { t.Settings.Memory = 1 << 30 })
	inits(0, func(_ *Options, t *Target) { t.Settings.Env = map[string]string{"A": "1"} }) // init gets none
	for key := range kept {
		kept[key] = []byte(`{"state_action":{"args":["state"]},"more":1}`)
	}
	inits(1, same) // what is no answer does not count
	clear(kept)
	answer = `{"state_action":{"args":["state"]},"cache":false}`
	inits(1, same)
	inits(1, same)
	if len(kept) > 0 {
		t.Errorf("kept: %v", kept)
	}
}

// The answer of an image that runs in a cluster is kept as that of any other. A cluster that takes no
// network away is not requested to.
func TestInitCache_OfClusters(t *testing.T) {
	t.Parallel()
	kept, queried := memory{}, 0
	program := func(_ context.Context, s runner.Spec, _ io.Reader, stdout, _ io.Writer) int {
		queried++
		want := runner.Network("")
		if s.Settings.Host.Kubernetes.NetworkPolicy {
			want = runner.NoNetwork
		}
		if s.Settings.Network != want {
			t.Errorf("it runs with the network %q, want %q", s.Settings.Network, want)
		}
		_, _ = io.WriteString(stdout, minimal)
		return 0
	}
	for i, policy := range []bool{false, false, true} {
		if i == 2 {
			clear(kept)
		}
		c, _ := client(program, func(o *Options) {
			o.Inits = kept
			o.InitOn = func(_ context.Context, target Target) (*runner.Host, error) { return target.Settings.Host, nil }
		})
		on := target()
		on.Settings.Host = &runner.Host{Name: "jobs", Kubernetes: &runner.Cluster{NetworkPolicy: policy}}
		if _, err := c.Init(t.Context(), on); err != nil {
			t.Fatal(err)
		}
	}
	if queried != 2 {
		t.Errorf("init ran %d times, want 2", queried)
	}
}
