package versions

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/tree"
	"deployster/plan/artifacts"
)

// Got is the version that was copied, and how much.
type Got struct {
	Version artifact.Versioned
	Newest  bool // no version was in use, so the newest one was copied
	Files   int64
	Bytes   int64
}

// Get copies the files of a version into a directory, which it creates if it does not
// exist, and which must be empty if it does. No parts mean the version in use, or the
// newest one if none is in use.
func (d *Service) Get(ctx context.Context, name, dir string, parts artifact.Version) (Got, error) {
	a, err := d.find(name)
	if err != nil {
		return Got{}, err
	}
	if err := empty(dir); err != nil {
		return Got{}, err
	}
	newest := false
	if now, _ := d.current(a); len(parts) == 0 && now.Version == nil {
		found, _, err := d.newest(ctx, []string{name}, 1)
		if err != nil {
			return Got{}, err
		}
		if waits := found.Waiting()[name]; waits != nil {
			return Got{}, d.at(a, waits)
		}
		newest, parts = true, found.Pins()[name].Recipe.Version
	}
	client, err := d.open(ctx, name)
	if err != nil {
		return Got{}, err
	}
	info, err := client.Info(ctx, artifacts.Target(a, ""))
	if err != nil {
		return Got{}, d.at(a, err)
	}
	v, err := d.which(ctx, client, a, info, parts)
	if err != nil {
		return Got{}, err
	}
	held, err := d.o.Store.Fetch(ctx, artifact.Order{Name: name, Target: artifacts.Target(a, info.Digest),
		Recipe: artifact.NewRecipe(info, a.Settings, a.Source.Value, a.Params.Value, v)})
	if err != nil {
		return Got{}, d.at(a, err)
	}
	if err := copyInto(ctx, held.Dir, dir); err != nil {
		return Got{}, diag.Errorf("The files cannot be copied", "%s: %s. What was copied until then is kept.", dir, err)
	}
	return Got{Version: v, Newest: newest, Files: held.Files, Bytes: held.Bytes}, nil
}

// empty creates a directory, or returns an error if it is not empty.
func empty(dir string) error {
	if err := os.Mkdir(dir, 0o755); err == nil {
		return nil
	} else if !errors.Is(err, os.ErrExist) {
		return diag.Errorf("No such directory", "%s.", err)
	}
	f, err := os.Open(dir)
	if err != nil {
		return diag.Errorf("The directory cannot be read", "%s.", err)
	}
	defer f.Close()
	switch _, err := f.Readdirnames(1); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return diag.Errorf("Not a directory", "%s: files are copied into a directory that is empty, or does not exist.", dir)
	}
	return diag.Errorf("The directory is not empty", "Files are copied into an empty directory, and %s has something in it already. Name "+
		"another one, or empty it.", dir)
}

// copyInto copies the content of one directory into another, which is empty. Files of an
// image do not become programs that run with the rights of the user who copies them.
func copyInto(ctx context.Context, from, to string) error {
	entries, err := os.ReadDir(from)
	for _, e := range entries {
		if err == nil {
			err = tree.CopyPlain(ctx, filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		}
	}
	return err
}
