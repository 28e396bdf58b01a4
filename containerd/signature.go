package containerd

import (
	"context"
	"deployster/internal/invoke"
	digest "github.com/opencontainers/go-digest"
)

func (r *Runtime) verifySigned(ctx context.Context, name string, dgst digest.Digest, v invoke.Verify) error {
	return nil
}
