package protocol

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
)

type boxed struct{ args []string }

type boxConfig struct {
	Size int `json:"size"`
}

func (*boxed) Read(context.Context, *Call[boxConfig, boxConfig]) (*boxConfig, error) { return nil, nil }

func (b *boxed) Write(_ context.Context, c *Call[boxConfig, boxConfig]) error {
	b.args = c.Args
	return nil
}

// An action has the arguments that its plan gave it, and a query has none.
func TestArgs_ReachTheAction(t *testing.T) {
	t.Parallel()
	run := func(b *boxed, args ...string) int {
		var out, log bytes.Buffer
		return Run(t.Context(), b, About{}, Process{Args: args, Stdin: strings.NewReader(`{"config":{"size":1}}`), Stdout: &out, Stderr: &log})
	}
	b := &boxed{}
	if code := run(b, "create", "-mawk", "-old"); code != 0 || !slices.Equal(b.args, []string{"-mawk", "-old"}) {
		t.Errorf("exit %d, with %q", code, b.args)
	}
	if code := run(b, "state", "-mawk"); code == 0 {
		t.Error("a query took a further argument")
	}
}
