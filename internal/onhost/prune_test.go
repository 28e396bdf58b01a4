package onhost

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"deployster/internal/runtime/runner/imagestore"
)

// shelf has images by name and digest.
type shelf struct {
	here  map[string]string
	stays string // its removal fails
}

func (s shelf) Unused(_ context.Context, keep map[string]bool, all bool) (list []imagestore.Image, err error) {
	for name, digest := range s.here {
		if !keep[digest] && (all || imagestore.IsDigest(name)) {
			list = append(list, imagestore.Image{Name: name, Digest: digest})
		}
	}
	return list, nil
}

func (s shelf) Remove(_ context.Context, names []string) (removed []imagestore.Image, err error) {
	for _, name := range names {
		if name == s.stays {
			err = errors.New("it is in use")
			continue
		}
		removed = append(removed, imagestore.Image{Name: name, Digest: s.here[name]})
		delete(s.here, name)
	}
	return removed, err
}

// What was sent is removed and reported, also where another image cannot be removed; what somebody has named stays.
func TestPrune_RemovesWhatHasNoName(t *testing.T) {
	t.Parallel()
	digest := func(digit byte) string { return "sha256:" + string(bytes.Repeat([]byte{digit}, 64)) }
	images := shelf{here: map[string]string{digest('1'): digest('1'), digest('2'): digest('2'), "docker.io/acme/own:1": digest('3')}}
	images.stays = digest('2')
	var out bytes.Buffer
	err := Prune(t.Context(), images, &out)
	if err == nil || err.Error() != "it is in use" || out.String() != "Removed "+digest('1')+"\n" {
		t.Errorf("%v; it prints %q", err, out.String())
	}
	var left []string
	for name := range images.here {
		left = append(left, name)
	}
	if slices.Sort(left); !slices.Equal(left, []string{"docker.io/acme/own:1", digest('2')}) {
		t.Errorf("left: %q", left)
	}
}
