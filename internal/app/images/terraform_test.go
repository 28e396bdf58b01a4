package images

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"deployster/internal/runtime/runner/imagestore"
)

// shelf is a store in memory, for one image.
type shelf struct {
	Store
	names []string // of what was packed, "" for none
	there bool
}

func (s *shelf) Pack(_ context.Context, o imagestore.PackOptions) (imagestore.Image, error) {
	s.there = true
	if o.Reference != "" {
		s.names = append(s.names, o.Reference)
	}
	return imagestore.Image{Digest: "sha256:1"}, nil
}

func (s *shelf) Tag(_ context.Context, _ string, names []string) ([]imagestore.Image, error) {
	s.names = append(s.names, names...)
	return []imagestore.Image{{Name: names[0]}}, nil
}

func (s *shelf) Unused(context.Context, map[string]bool, bool) ([]imagestore.Image, error) {
	if len(s.names) > 0 {
		return nil, nil
	}
	return []imagestore.Image{{Name: "sha256:1", Digest: "sha256:1"}}, nil
}

func (s *shelf) Remove(context.Context, []string) ([]imagestore.Image, error) {
	s.there = false
	return nil, nil
}

// While a provider is tried its image has no name, so that nothing is left under one when
// this is killed; one that does not start leaves nothing but what others have named.
func TestPackProvider_NamesOnlyWhatHasStarted(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("it does not start")
	for name, c := range map[string]struct {
		before []string
		fails  error
		names  []string
		there  bool
	}{
		"it starts":                        {nil, nil, []string{"tf/a:1"}, true},
		"it does not":                      {nil, broken, nil, false},
		"it does not, and has a name":      {[]string{"tf/b:1"}, broken, []string{"tf/b:1"}, true},
		"it starts, and has another name ": {[]string{"tf/b:1"}, nil, []string{"tf/b:1", "tf/a:1"}, true},
	} {
		s := &shelf{names: slices.Clone(c.before)}
		o := PackOptions{Reference: "tf/a:1", Args: []string{program}, Path: func(p string) string { return p }}
		_, err := PackProvider(t.Context(), s, o, func(_ context.Context, image string) error {
			if image != "sha256:1#provider" || !slices.Equal(s.names, c.before) {
				t.Errorf("%s: asked is %s, and the names are %q", name, image, s.names)
			}
			return c.fails
		})
		if !errors.Is(err, c.fails) || !slices.Equal(s.names, c.names) || s.there != c.there {
			t.Errorf("%s: %v, names %q, there %t", name, err, s.names, s.there)
		}
	}
}
