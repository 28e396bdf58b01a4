package typeclient

import (
	"context"
	"errors"
	"io"
	"testing"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/protocol"
)

// A mount of an artifact names its files only where they are sent to another machine.
func TestClient_MountsFilesOfArtifacts(t *testing.T) {
	f := runnertest.NewFake()
	f.Add("acme/it", func(_ context.Context, _ runner.Spec, _ io.Reader, stdout, _ io.Writer) int {
		_, _ = io.WriteString(stdout, `{"status":"VALID","state":{}}`)
		return 0
	})
	var seen []runner.Mount
	c := New(Options{Runner: elsewhere{f, &seen}})
	digest, err := c.Resolve(t.Context(), "acme/it")
	if err != nil {
		t.Fatal(err)
	}
	ty := protocol.Type{Protocol: 2, Digest: digest}
	sent := runner.Mount{Source: artifact.MountSource("key", "dist"), Target: "/in", Files: &runner.Files{Key: "key"}}
	target := Target{Address: "a", Reference: "acme/it", Mounts: []runner.Mount{sent}}
	if _, err := c.State(t.Context(), target, ty, protocol.StateInput{}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0] != sent {
		t.Errorf("%+v", seen)
	}
	seen = nil
	target.Mounts[0].Files = nil
	if _, err := c.State(t.Context(), target, ty, protocol.StateInput{}); !errors.Is(err, errors.ErrUnsupported) || seen != nil {
		t.Errorf("%v, ran with %v", err, seen)
	}
}

// elsewhere has the files of artifacts, which this machine has not.
type elsewhere struct {
	*runnertest.Fake
	seen *[]runner.Mount
}

func (e elsewhere) Run(ctx context.Context, s runner.Spec) (runner.Result, error) {
	*e.seen, s.Mounts = s.Mounts, nil
	return e.Fake.Run(ctx, s)
}
