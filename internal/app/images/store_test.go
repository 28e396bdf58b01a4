package images

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"deployster/config"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner/imagestore"
)

// listing is a Store of images that are only listed and removed.
type listing struct {
	Store
	here    []imagestore.Image
	removed []string
}

func (s *listing) Unused(_ context.Context, keep map[string]bool, _ bool) ([]imagestore.Image, error) {
	return slices.DeleteFunc(slices.Clone(s.here), func(i imagestore.Image) bool { return keep[i.Digest] }), nil
}

func (s *listing) Remove(_ context.Context, references []string) ([]imagestore.Image, error) {
	s.removed = references
	return nil, nil
}

// While somebody thinks about what is shown, a name gets another image, another one goes,
// one comes, and one is pinned by the lock file.
func TestPrune_RemovesWhatWasShown(t *testing.T) {
	t.Parallel()
	image := func(name, digit string) imagestore.Image {
		return imagestore.Image{Name: name, Digest: digestOf(digit)}
	}
	shown := []imagestore.Image{image("same", "a"), image("moved", "b"), image("gone", "c"), image("pinned", "d")}
	s := &listing{here: []imagestore.Image{image("same", "a"), image("moved", "e"), image("new", "f"), image("pinned", "d")}}
	dir := t.TempDir()
	lock := &config.Lock{Images: map[string]string{"docker.io/acme/pinned:1": digestOf("d")}}
	if err := os.WriteFile(filepath.Join(dir, config.LockName), lock.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Prune(t.Context(), s, workspace.New(workspace.Options{Dir: dir}), shown); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.removed, []string{"same"}) {
		t.Errorf("removed %q, want same", s.removed)
	}
}
