package images

import (
	"bytes"
	"context"
	"deployster/containerd/images/transfer"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/containerd/containerd/v2/core/remotes"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// silent is a registry that says that it has something, and then sends nothing of it.
type silent struct{ remotes.Resolver }

func (silent) Resolve(context.Context, string) (string, ocispec.Descriptor, error) {
	return "", ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: digest.FromString("x"), Size: 1}, nil
}

func (s silent) Fetcher(context.Context, string) (remotes.Fetcher, error) { return s, nil }

func (silent) Fetch(ctx context.Context, _ ocispec.Descriptor) (io.ReadCloser, error) {
	return struct {
		io.Reader
		io.Closer
	}{readerFunc(func([]byte) (int, error) { <-ctx.Done(); return 0, ctx.Err() }), io.NopCloser(&bytes.Buffer{})}, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestSignatures_DoNotWaitIndefinitely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := signatures{name: "reg.example.com/acme/db:1", digest: digest.FromString("db"), resolver: func(context.Context) remotes.Resolver { return silent{} }}
		if _, err := s.find(t.Context()); !errors.Is(err, transfer.ErrStalled) {
			t.Errorf("got %v", err)
		}
	})
}
