package transfer

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

// PlatformError reports that an image is for other platforms than this machine's.
type PlatformError struct {
	Want string
	Has  []string // the platforms of the image
}

func (e *PlatformError) Error() string {
	return fmt.Sprintf("it is not for the platform %s, but for %s", e.Want, strings.Join(e.Has, ", "))
}

// Platform matches the images that run on this machine, or on Linux hosts of its architecture if it is not Linux.
func Platform() platforms.MatchComparer { return platforms.Only(here()) }

// PlatformName is the name of that platform.
func PlatformName() string { return platforms.FormatAll(here()) }

func here() ocispec.Platform {
	p := platforms.DefaultSpec()
	p.OS = "linux"
	return p
}

// CheckPlatform returns a PlatformError for an image that names platforms, but not this machine's. It
// returns nil if a part of the image is missing here, or names no platform.
func CheckPlatform(ctx context.Context, from content.Provider, target ocispec.Descriptor) error {
	return CheckPlatformFor(ctx, from, target, nil)
}

// CheckPlatformFor is CheckPlatform for another machine's platform; nil = this machine's.
func CheckPlatformFor(ctx context.Context, from content.Provider, target ocispec.Descriptor, other *ocispec.Platform) error {
	matcher, want := Platform(), PlatformName()
	if other != nil {
		matcher, want = platforms.Only(*other), platforms.Format(*other)
	}
	list, err := images.Platforms(ctx, from, target)
	if err != nil {
		return nil // a part of it is missing, which whoever needs it reports
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
	return &PlatformError{want, slices.Compact(has)}
}
