package images

import (
	"testing"

	"github.com/containerd/containerd/v2/core/images"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/internal/runtime/runner/imagestore"
)

// A name that was given by hand was not pulled, wherever the image came from.
func TestObtained_PulledByTheSameName(t *testing.T) {
	t.Parallel()
	const named, other = "docker.io/acme/db:1", "docker.io/library/db:1"
	dgst := digest.FromString("db")
	byDigest := imagestore.WithDigest(named, dgst.String())
	for _, c := range []struct {
		name, source string
		pulled       bool
	}{
		{named, named, true},
		{named, byDigest, true},
		{byDigest, named, true},
		{byDigest, byDigest, true},
		{other, named, false},
		{other, byDigest, false},
		{imagestore.WithDigest(other, dgst.String()), named, false},
		{"docker.io/acme/db:2", named, false},
		{named, "", false},
	} {
		record := images.Image{Name: c.name, Target: ocispec.Descriptor{Digest: dgst}}
		if c.source != "" {
			record.Labels = map[string]string{labelSource: c.source}
		}
		if got := obtained(c.name, record); got.Pulled != c.pulled {
			t.Errorf("%s of %q: pulled is %t", c.name, c.source, got.Pulled)
		}
	}
}
