package containerd

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/runnertest"
)

// contents counts what is read of a store, and may change it.
type contents struct {
	imagestore.Contents
	read   atomic.Int64
	change func(content []byte) ([]byte, error)
}

func (c *contents) ReadContent(ctx context.Context, digest string, offset int64, n int) ([]byte, error) {
	content, err := c.Contents.ReadContent(ctx, digest, offset, n)
	c.read.Add(int64(len(content)))
	if err == nil && c.change != nil {
		return c.change(content)
	}
	return content, err
}

func TestReceive_BringsAnImageFromAnotherStore(t *testing.T) {
	t.Parallel()
	local, there := open(t, embedded(t)), open(t, embedded(t))
	dgst := packProbe(t, local)
	shipment, err := local.Images.Shipment(context.Background(), dgst, runtime.GOARCH)
	if err != nil || shipment.Digest != dgst {
		t.Fatalf("%+v, %v", shipment, err)
	}

	// What was changed on the way is refused, and what is cut off gone on with.
	evil := &contents{Contents: local, change: func(content []byte) ([]byte, error) { return bytes.ToUpper(content), nil }}
	if err := there.Images.Receive(context.Background(), shipment, evil); err == nil {
		t.Error("changed contents are taken")
	}
	lost := errors.New("the line is cut")
	left := int64(600 << 10)
	cut := &contents{Contents: local, change: func(content []byte) ([]byte, error) {
		if left -= int64(len(content)); left < 0 {
			return nil, lost
		}
		return content, nil
	}}
	if err := there.Images.Receive(context.Background(), shipment, cut); err == nil || !strings.Contains(err.Error(), lost.Error()) {
		t.Errorf("cut off: %v", err)
	}
	if _, err := there.Images.Resolve(context.Background(), dgst); !errors.Is(err, runner.ErrNoImage) {
		t.Errorf("half an image is here: %v", err)
	}
	whole := &contents{Contents: local}
	if err := there.Images.Receive(context.Background(), shipment, whole); err != nil {
		t.Fatal(err)
	}
	res, err := there.Run(context.Background(), runner.Spec{Name: "t", Kind: runner.Query, Digest: dgst, Args: []string{"exit", "3"}})
	if err != nil || res.ExitCode != 3 {
		t.Errorf("exit %d, %v", res.ExitCode, err)
	}
	// It has no name there, and is not sent twice.
	if _, err := there.Images.Resolve(context.Background(), runnertest.ProbeReference); !errors.Is(err, runner.ErrNoImage) {
		t.Errorf("it took a name: %v", err)
	}
	before := whole.read.Load()
	if err := there.Images.Receive(context.Background(), shipment, whole); err != nil || whole.read.Load() != before || before == 0 {
		t.Errorf("again: %d bytes after %d, %v", whole.read.Load(), before, err)
	}
}
