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
