package foreign

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/platforms"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Error says that an image is for other platforms than this machine's.
type Error struct {
	Want string
	Has  []string // the platforms that it names
}

func (e *Error) Error() string {
	return fmt.Sprintf("it is not for the platform %s, but for %s", e.Want, strings.Join(e.Has, ", "))
}

// Platform matches the images that run here.
func Platform() platforms.MatchComparer { return platforms.Default() }

// Check returns an Error for an image that names platforms, of which this machine's is
// none. What is not here of it, or names none, is not looked at.
func Check(ctx context.Context, from content.Provider, target ocispec.Descriptor) error {
	return CheckFor(ctx, from, target, nil)
}

// CheckFor is Check for another machine; nil = it is this one.
func CheckFor(ctx context.Context, from content.Provider, target ocispec.Descriptor, other *ocispec.Platform) error {
	matcher, want := Platform(), platforms.DefaultString()
	if other != nil {
		matcher, want = platforms.Only(*other), platforms.Format(*other)
	}
	list, err := images.Platforms(ctx, from, target)
	if err != nil {
		return nil // a part of it is missing, which is told by who needs it
	}
	var has []string
	for _, p := range list {
		if p.Architecture == "" || matcher.Match(p) {
			return nil
		}
		has = append(has, platforms.Format(p))
	}
	if len(has) == 0 {
		return nil
	}
	slices.Sort(has)
	return &Error{want, slices.Compact(has)}
}
