package standalone

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/version"
	"deployster/internal/base/words"
	"deployster/internal/migrate"
	"deployster/internal/ui/terminal"
	"deployster/state"
)

// MigrateTerraform converts the configuration of Terraform in a directory, and its state.
// from is the file of the state, "" = the one in the directory; to is the directory that is
// written, "" = the one that is read.
func MigrateTerraform(ctx context.Context, w *workspace.Workspace, out terminal.Printer, dir, from, to string) error {
	dir, to = w.Path(dir), w.Path(cmp.Or(to, dir))
	if from != "" {
		from = w.Path(from)
	}
	made, err := migrate.Run(migrate.Options{Dir: dir, Out: to, State: from, Version: version.Version, Environ: w.Environ, Now: time.Now()})
	if err != nil {
		return err
	}
	file := filepath.Join(to, workspace.DefaultState)
	if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
		return diag.Errorf("A state exists already", "%s exists, and is not replaced. Nothing was written.", file)
	}
	if err := made.Write(to); err != nil {
		return err
	}
	if made.Snapshot.Resources != nil {
		store, err := w.OpenState(ctx, state.File(file), "migrate terraform")
		if err == nil {
			err = errors.Join(store.Replace(made.Snapshot), store.Close())
		}
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(made.Files)) {
		out.Printf("wrote %s\n", name)
	}
	if made.Snapshot.Resources != nil {
		out.Printf("wrote %s, with %s\n", workspace.DefaultState, words.Count(len(made.Snapshot.Resources), "resource"))
	}
	for _, note := range made.Notes {
		out.Printf("check %s\n", note)
	}
	for _, pack := range made.Packs {
		out.Printf("run %s\n", pack)
	}
	out.Printf("Then `deployster plan` compares it with what exists, and `deployster apply` records it.\n")
	return nil
}
