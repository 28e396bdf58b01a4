package images

import (
	"context"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/images"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/ui/terminal"
)

func removeCommand(action func(Run) cli.ActionFunc) *cli.Command {
	return &cli.Command{Name: "rm", Usage: "remove images, by name or by digest", ArgsUsage: "IMAGE ...",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "force", Usage: "also if the state, the lock file or a manifest here needs them"}},
		Action: action(removeImages)}
}

func pruneCommand(action func(Run) cli.ActionFunc) *cli.Command {
	return &cli.Command{Name: "prune", Usage: "remove images that the working directory does not need",
		Description: "Images that the state, the lock file or the manifests of the working directory need are kept. It does not know " +
			"what\n" +
			"other directories need, and therefore prompts.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "also images that have a name"},
			&cli.BoolFlag{Name: "dry-run", Usage: "only show what would be removed"},
			&cli.BoolFlag{Name: "force", Usage: "do not prompt"},
		},
		Action: action(pruneImages)}
}

func removeImages(c *cli.Context, s Session) error {
	if c.NArg() == 0 {
		return diag.Errorf("Missing argument", "rm takes the names of images: deployster image rm acme/file:1")
	}
	store, err := s.Store(c.Context)
	if err != nil {
		return err
	}
	var keep map[string]bool
	if !c.Bool("force") {
		if keep, err = images.Needed(c.Context, store, s.Engine.Workspace, "image rm"); err != nil {
			return err
		}
	}
	removed, err := images.Remove(c.Context, store, c.Args().Slice(), keep)
	printRemoved(s.Out, removed)
	return err
}

func pruneImages(c *cli.Context, s Session) error {
	if err := flagvalues.AtMost(c, 0); err != nil {
		return err
	}
	store, err := s.Store(c.Context)
	if err != nil {
		return err
	}
	keep, err := images.Needed(c.Context, store, s.Engine.Workspace, "image prune")
	if err != nil {
		return err
	}
	unused, err := store.Unused(c.Context, keep, c.Bool("all"))
	switch {
	case err != nil:
		return err
	case len(unused) == 0:
		s.Out.Printf("Nothing to remove.\n")
		return nil
	case c.Bool("dry-run"):
		printImages(s.Out, unused)
		return nil
	}
	if !c.Bool("force") {
		if err := confirmPrune(c.Context, s, unused); err != nil {
			return err
		}
	}
	removed, err := images.Prune(c.Context, store, s.Engine.Workspace, unused)
	printRemoved(s.Out, removed)
	if stay := len(unused) - len(removed); err == nil && stay > 0 {
		s.Err.Printf("%s was kept: it has changed since it was shown.\n", words.Count(stay, "image"))
	}
	return err
}

// confirmPrune prompts for approval to remove images.
func confirmPrune(ctx context.Context, s Session, unused []imagestore.Image) error {
	printImages(s.Err, unused)
	s.Err.Printf("\n%s", lostWarning(unused))
	if !s.Interactive {
		return diag.Errorf("Approval required", "prune needs approval, and there is no terminal to prompt on. Nothing was removed. "+
			"-force removes without a prompt, -dry-run only shows.")
	}
	yes, err := s.Confirm(ctx, "Remove these images?", false)
	if err == nil && !yes {
		err = diag.Errorf("Not approved", "Nothing was removed.")
	}
	return err
}

// lostWarning returns a sentence that reports whether all the images can be pulled again.
func lostWarning(list []imagestore.Image) string {
	lost := 0
	for _, i := range list {
		if i.From == "" {
			lost++
		}
	}
	if lost == 0 {
		return "All of them can be pulled again.\n"
	}
	return "Those without a FROM were packed or imported here, and cannot be pulled again.\n"
}

// printRemoved prints the removed images, and their size.
func printRemoved(p terminal.Printer, list []imagestore.Image) {
	var size int64
	counted := map[string]bool{}
	for _, i := range list {
		if !counted[i.Digest] {
			counted[i.Digest], size = true, size+i.Size
		}
		p.Printf("Removed %s (%s)\n", i.Name, i.Digest)
	}
	if len(list) > 0 {
		p.Printf("Freed up to %s (layers used by other images are kept).\n", words.Bytes(size))
	}
}
