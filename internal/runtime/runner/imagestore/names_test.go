package imagestore_test

import (
	"strings"
	"testing"

	"deployster/internal/runtime/runner/imagestore"
)

var digest = "sha256:" + strings.Repeat("0123456789abcdef", 4)

func TestFullName_CompletesAsDockerDoes(t *testing.T) {
	for name, c := range map[string]struct{ ref, full, digest string }{
		"a short name":             {"file", "docker.io/library/file:latest", ""},
		"a name of a user":         {"acme/file", "docker.io/acme/file:latest", ""},
		"a tag":                    {"acme/file:1.2", "docker.io/acme/file:1.2", ""},
		"a registry":               {"registry.example.com:5000/a/b:1", "registry.example.com:5000/a/b:1", ""},
		"a digest in it":           {"acme/file@" + digest, "docker.io/acme/file@" + digest, digest},
		"a tag and a digest in it": {"acme/file:1@" + digest, "docker.io/acme/file@" + digest, digest},
		"a digest alone":           {digest, digest, digest},
		"a kind of 128 letters":    {"acme/file:1#" + strings.Repeat("k", 128), "docker.io/acme/file:1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			full, dgst, err := imagestore.FullName(c.ref)
			if full != c.full || dgst != c.digest || err != nil {
				t.Errorf("%q: %q, %q, %v", c.ref, full, dgst, err)
			}
		})
	}
}

func TestFullName_RefusesWhatIsNotAName(t *testing.T) {
	for name, ref := range map[string]string{
		"nothing":          "",
		"capitals":         "Acme/File",
		"a space":          "a b",
		"a short digest":   "sha256:abc",
		"a capital digest": "sha256:" + strings.Repeat("A", 64),
		"a long digest":    digest + "0",
		"no kind":          "acme/file:1#",
		"a long kind":      "acme/file:1#" + strings.Repeat("k", 129),
	} {
		t.Run(name, func(t *testing.T) {
			if full, _, err := imagestore.FullName(ref); err == nil || !strings.Contains(err.Error(), "Not the name of an image") {
				t.Errorf("%q: %q, %v", ref, full, err)
			}
		})
	}
}

func TestWithDigest_NamesOneImage(t *testing.T) {
	for name, c := range map[string]struct{ full, want string }{
		"a tag goes":             {"docker.io/acme/file:1", "docker.io/acme/file@" + digest},
		"another digest goes":    {"docker.io/acme/file@sha256:" + strings.Repeat("1", 64), "docker.io/acme/file@" + digest},
		"a digest alone becomes": {"sha256:" + strings.Repeat("1", 64), digest},
	} {
		t.Run(name, func(t *testing.T) {
			if got := imagestore.WithDigest(c.full, digest); got != c.want {
				t.Errorf("%q: %q", c.full, got)
			}
		})
	}
}
