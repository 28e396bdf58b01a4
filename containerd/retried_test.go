package containerd

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"deployster/internal/runtime/runner"
)

// An action that is tried again has the ID of the first try: when that is
// discarded, nobody is told how it ended, also when its client died right after
// he had taken that down.
func TestAction_DiscardedBeforeItIsTriedAgain(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	dgst := packProbe(t, r)
	ctx := context.Background()
	for _, code := range []int{7, 9} {
		dies, err := Open(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = dies.Run(ctx, runner.Spec{Name: "x", ID: "id", Kind: runner.Action, Digest: dgst, Args: []string{"exit", fmt.Sprint(code)},
			Ended: func(runner.Result, error) error { return errors.New("as if it died now") }})
		if cerr := dies.Close(); err == nil || cerr != nil {
			t.Errorf("got %v, %v", err, cerr)
		}
		if code == 7 {
			if err := r.Discard(ctx, "id"); err != nil {
				t.Error(err)
			}
			continue
		}
		if out, err := r.Adopt(ctx, "id", runner.Watch{}); err != nil || out.ExitCode != code {
			t.Errorf("the second try ended with %+v, %v", out, err)
		}
		if err := r.Discard(ctx, "id"); err != nil {
			t.Error(err)
		}
	}
	swept(t, r)
}
