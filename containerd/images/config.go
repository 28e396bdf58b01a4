package images

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	"github.com/containerd/platforms"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/images/transfer"
)

// platform matches the images that run on this machine.
func platform() platforms.MatchComparer { return transfer.Platform() }

// platformOf matches the content of an image that is read: for this machine, or for any machine if the
// image is without layers here.
func platformOf(record images.Image) platforms.MatchComparer {
	if record.Labels[labelPartial] == "true" {
		return anyLinux{platform()}
	}
	return platform()
}

// anyLinux matches images of all architectures, those for this machine first.
type anyLinux struct{ own platforms.MatchComparer }

func (anyLinux) Match(p ocispec.Platform) bool { return p.OS == "linux" }

func (a anyLinux) Less(p, q ocispec.Platform) bool {
	return a.own.Match(p) && (!a.own.Match(q) || a.own.Less(p, q))
}

// errNoFiles is the fault of an image that is not one of a program.
var errNoFiles = errors.New("it has no files: its config names no layers")

// ReadConfig reads the config of an image for this platform, or for any if it has no layers here.
func ReadConfig(ctx context.Context, cs content.Store, record images.Image) (c ocispec.Image, err error) {
	match := platformOf(record)
	if _, all := match.(anyLinux); !all {
		if err := transfer.CheckPlatform(ctx, cs, record.Target); err != nil {
			return c, err
		}
	}
	desc, err := record.Config(ctx, cs, match)
	if errdefs.IsNotFound(err) {
		return c, fmt.Errorf("it is not for the platform %s, or a part of it is missing (%w)", transfer.PlatformName(), err)
	}
	if err != nil {
		return c, err
	}
	if desc.Size > transfer.MaxConfig {
		return c, fmt.Errorf("its config has %d bytes; %d are allowed", desc.Size, transfer.MaxConfig)
	}
	b, err := content.ReadBlob(ctx, cs, desc)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("its config is broken: %w", err)
	}
	for _, variable := range c.Config.Env {
		if name, _, ok := strings.Cut(variable, "="); !ok || name == "" {
			return c, fmt.Errorf("its config has the environment entry %q, which is not NAME=VALUE", variable)
		}
	}
	if len(c.RootFS.DiffIDs) == 0 {
		return c, errNoFiles
	}
	return c, nil
}
