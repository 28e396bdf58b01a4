package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deployster/internal/base/imagefiles"
	"deployster/internal/base/programs"
	"deployster/internal/runtime/runner/imagestore"
)

// Paths of the parts of a Terraform provider in its image.
const (
	bridgeName      = "deployster-terraform"
	providerTarget  = "/provider"
	certificatesDir = "/etc/ssl/certs/ca-certificates.crt"
)

// PlugsVariable is the environment variable of the image with the plugs that the bridge requests,
// as in NAME=PATH:rw,NAME=PATH.
const PlugsVariable = "DEPLOYSTER_TF_PLUGS"

// CheckPlugs refuses plugs that the bridge would not understand.
func CheckPlugs(plugs []string) error {
	for _, p := range plugs {
		name, path, ok := strings.Cut(p, "=")
		if !ok || name == "" || !filepath.IsAbs(path) || strings.ContainsAny(p, ",") || strings.Contains(strings.TrimSuffix(path, ":rw"),
			":") {
			return fmt.Errorf("%q is not a plug", p)
		}
	}
	return nil
}

// addTerraform adds a Terraform provider, the bridge that speaks the protocol for it, and
// the certificates of this machine. It returns the entrypoint.
func addTerraform(ctx context.Context, files *imagefiles.Set, provider string) (entrypoint string, err error) {
	binary, err := providerBinary(provider)
	if err != nil {
		return "", err
	}
	bridge := programs.Find(bridgeName)
	if bridge == "" {
		return "", fmt.Errorf("the bridge to Terraform providers is not installed with this deployster: %s was not found in %s",
			bridgeName, strings.Join(programs.Dirs(), ", "))
	}
	if err := errors.Join(files.AddFile(binary, providerTarget), files.AddFile(bridge, "/"+bridgeName)); err != nil {
		return "", err
	}
	files.Executable(providerTarget)
	if _, err := os.Stat(certificatesDir); err == nil {
		if err := files.AddFile(certificatesDir, certificatesDir); err != nil {
			return "", err
		}
	}
	return "/" + bridgeName, files.AddLibraries(ctx)
}

// PackProvider makes the image of a Terraform provider, and names it once the provider has
// started in it and answered. If this process is killed before, it leaves an image without
// a name, which the next try or a prune finds.
func PackProvider(ctx context.Context, s Store, o PackOptions,
	inspect func(ctx context.Context, image string) error) (imagestore.Image, error) {
	name := o.Reference
	o.Reference = ""
	image, err := Pack(ctx, s, o)
	if err != nil {
		return image, err
	}
	if err := inspect(ctx, image.Digest+"#provider"); err != nil {
		return image, errors.Join(err, removeUnnamed(context.WithoutCancel(ctx), s, image.Digest))
	}
	named, err := s.Tag(ctx, image.Digest, []string{name})
	if err != nil {
		return image, err
	}
	return named[0], nil
}

// removeUnnamed removes an image, unless it has a name.
func removeUnnamed(ctx context.Context, s Store, digest string) error {
	unnamed, err := s.Unused(ctx, nil, false)
	if err == nil && slices.ContainsFunc(unnamed, func(i imagestore.Image) bool { return i.Digest == digest }) {
		_, err = s.Remove(ctx, []string{digest})
	}
	return err
}

// providerBinary returns the path of the only provider in a directory, named as Terraform names it.
func providerBinary(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return "", err
	}
	if !info.IsDir() {
		return path, nil
	}
	found, err := filepath.Glob(filepath.Join(path, "terraform-provider-*"))
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("it has %d files terraform-provider-*, and must have one: name the file", len(found))
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}
