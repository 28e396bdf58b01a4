package cli

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/stateedit"
	"deployster/internal/base/diag"
	"deployster/internal/base/version"
	"deployster/internal/cli/commandline"
	"deployster/internal/cli/manual"
)

func completionCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:        "completion",
		Usage:       "print the completion script of a shell",
		ArgsUsage:   strings.Join(manual.Shells(), "|"),
		Description: "The first lines of the script name the file that it belongs into.",
		Action: e.action(func(c *cli.Context, s *session) error {
			script, ok := manual.Script(c.Args().First())
			if !ok || c.NArg() != 1 {
				return diag.Errorf("Missing argument", "completion takes the name of a shell: %s.", strings.Join(manual.Shells(), ", "))
			}
			s.out.Raw(script)
			return nil
		}),
	}
}

// completeCommand is the command that the completion scripts call. It prints no errors:
// the user has not run a command yet.
func completeCommand(e Env) *cli.Command {
	return &cli.Command{Name: commandline.CompleteCommand, Hidden: true, Action: e.action(func(c *cli.Context, s *session) error {
		if c.NArg() == 0 {
			return nil
		}
		for _, found := range manual.Of(newApp(e)).Complete(c.Args().Slice(), s.known(c)) {
			s.out.Printf("%s\t%s\n", diag.Visible(found.Word), found.Means)
		}
		return nil
	})}
}

// known returns a function that lists the names in the state, and those of images.
func (s *session) known(c *cli.Context) manual.Known {
	return func(kind string) []string {
		if kind == "IMAGE" {
			return s.imageNames(c.Context, c.Args().Get(c.NArg()-1))
		}
		snapshot, err := s.engine.Workspace.ReadState(c.Context, s.engine.Workspace.StatePlaceAround())
		switch {
		case err != nil:
			return nil
		case kind == "OUTPUT":
			return slices.Sorted(maps.Keys(snapshot.Outputs))
		case kind == "ARTIFACT":
			return slices.Sorted(maps.Keys(snapshot.Artifacts))
		}
		names, _ := stateedit.Remembered(snapshot, nil) // nil with an error
		return names
	}
}

// imageNames lists the images on this machine by the names that manifests use: without
// docker.io, unless what is typed begins with it. Nil = there are none, or they cannot be
// read.
func (s *session) imageNames(ctx context.Context, typed string) (names []string) {
	store, err := s.store(ctx)
	if err != nil {
		return nil
	}
	list, err := store.Images(ctx)
	if err != nil {
		return nil
	}
	for _, i := range list {
		name := i.Name
		if !strings.HasPrefix(typed, "docker.io") {
			name = strings.TrimPrefix(strings.TrimPrefix(name, "docker.io/"), "library/")
		}
		names = append(names, name)
	}
	return names
}

// manCommand is the command that `make man` runs.
func manCommand(e Env) *cli.Command {
	return &cli.Command{Name: "man", Hidden: true, Action: e.action(func(c *cli.Context, s *session) error {
		if c.NArg() != 1 {
			return diag.Errorf("Missing argument", "man takes the directory for its pages.")
		}
		for _, page := range manual.Of(newApp(e)).All() {
			file := filepath.Join(s.engine.Workspace.Path(c.Args().First()), page.ManName()+".1")
			if err := os.WriteFile(file, []byte(page.Man(version.Version)), 0o644); err != nil {
				return diag.Errorf("Cannot write the man pages", "%s.", err)
			}
		}
		return nil
	})}
}
