package modules

import (
	"context"
	"errors"
	"os"
	"path"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner/imagestore"
)

// Packer makes images of files. A store of images is one.
type Packer interface {
	Pack(ctx context.Context, o imagestore.PackOptions) (imagestore.Image, error)
}

// Pack makes an image of the modules in a directory. It returns what was left out.
func Pack(ctx context.Context, to Packer, reference, from, shown string) (_ imagestore.Image, left []string, err error) {
	failed := func(err error) error {
		if d, is := errors.AsType[*diag.Diagnostic](err); is {
			return d
		}
		if pe, is := errors.AsType[*os.PathError](err); is {
			err = pe.Err
		}
		return diag.Errorf("Cannot create a module from the directory", "%s: %s.", shown, err)
	}
	t, err := readTree(from, func(name string) bool {
		skip := !belongs(path.Base(name))
		if skip {
			left = append(left, name)
		}
		return skip
	})
	if err == nil {
		err = t.checkLinks()
	}
	if err == nil && !t.hasManifest() {
		err = errors.New("it has no manifest: no file whose name ends in .hcl or .hcl.json")
	}
	if err != nil {
		return imagestore.Image{}, nil, failed(err)
	}
	staged, err := os.MkdirTemp("", "deployster-module-")
	if err != nil {
		return imagestore.Image{}, nil, failed(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staged)) }()
	if err := writeTree(staged, t); err != nil {
		return imagestore.Image{}, nil, failed(err)
	}
	image, err := to.Pack(ctx, imagestore.PackOptions{Reference: reference, Dir: staged, Portable: true})
	return image, left, err
}

// belongs reports whether a file or a directory is part of a module, by its name.
func belongs(base string) bool {
	return base != ".git" && !strings.HasPrefix(base, ".deployster") && !strings.HasPrefix(base, "deployster.state.json")
}

// hasManifest reports whether a directory of the tree has a manifest.
func (t *tree) hasManifest() bool {
	for name := range t.entries {
		if config.IsManifest(path.Base(name)) {
			return true
		}
	}
	return false
}

// LeftOut returns a remark about what Pack has left out; "" = nothing.
func LeftOut(left []string) string {
	if len(left) == 0 {
		return ""
	}
	return "Skipped, because it is not part of a module: " + words.List(left, 5) + "."
}
