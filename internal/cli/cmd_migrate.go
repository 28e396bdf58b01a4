package cli

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/migrate"
	"deployster/state"
)

func migrateCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "migrate",
		Usage: "convert the configuration and the state of another tool",
		Subcommands: []*cli.Command{{
			Name:      "terraform",
			Usage:     "convert a configuration of Terraform, with its state",
			ArgsUsage: "DIR",
			Description: "It reads the configuration in DIR, the modules that it calls and its state, and writes manifests, a state, and which\n" +
				"images to pack. It touches nothing else. What cannot be carried over is an error that names all of it, and nothing is written.\n" +
				"Exit codes: 0 written, 1 error.",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "state", Usage: "Terraform's state is `FILE`; default: terraform.tfstate in DIR"},
				&cli.StringFlag{Name: "out", Usage: "write into `DIR`; default: the directory that is read"},
			},
			Action: e.action(runMigrateTerraform),
		}},
	}
}

func runMigrateTerraform(c *cli.Context, s *session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong command line", "Name one directory with a configuration of Terraform.")
	}
	dir := s.engine.Workspace.Path(c.Args().First())
	out, from := dir, ""
	if to := c.String("out"); to != "" {
		out = s.engine.Workspace.Path(to)
	}
	if from = c.String("state"); from != "" {
		from = s.engine.Workspace.Path(from)
	}
	made, err := migrate.Run(migrate.Options{Dir: dir, Out: out, State: from, Version: Version, Environ: s.engine.Workspace.Environ,
		Now: time.Now()})
	if err != nil {
		return err
	}
	file := filepath.Join(out, workspace.DefaultState)
	if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
		return diag.Errorf("A state exists already", "%s exists, and nothing is replaced. Nothing was written.", file)
	}
	if err := made.Write(out); err != nil {
		return err
	}
	if made.Snapshot.Resources != nil {
		store, err := s.engine.Workspace.OpenState(c.Context, state.File(file), "migrate terraform")
		if err == nil {
			err = errors.Join(store.Replace(made.Snapshot), store.Close())
		}
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(made.Files)) {
		s.out.Printf("wrote %s\n", name)
	}
	if made.Snapshot.Resources != nil {
		s.out.Printf("wrote %s, with %s\n", workspace.DefaultState, words.Count(len(made.Snapshot.Resources), "resource"))
	}
	for _, note := range made.Notes {
		s.out.Printf("look at %s\n", note)
	}
	for _, pack := range made.Packs {
		s.out.Printf("run %s\n", pack)
	}
	s.out.Printf("Then `deployster plan` shows what is as it was, and `deployster apply` records it.\n")
	return nil
}
