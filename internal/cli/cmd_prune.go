package cli

import (
	"errors"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/containerd"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/state"
)

func removeCommand(e Env) *cli.Command {
	return &cli.Command{Name: "rm", Usage: "remove images, by name or by digest", ArgsUsage: "IMAGE ...",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "force", Usage: "also those that the state, the lock file or the manifests here need"}},
		Action: func(c *cli.Context) error { return withRuntime(c, e, removeImages) }}
}

func pruneCommand(e Env) *cli.Command {
	return &cli.Command{Name: "prune", Usage: "remove the images that nothing here needs",
		Description: "What the state file, the lock file and the manifests in the working directory need stays. Other directories are not\n" +
			"looked at: what they need and cannot be pulled again would be lost. So it asks.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "also those that have a name"},
			&cli.BoolFlag{Name: "dry-run", Usage: "only show what would be removed"},
			&cli.BoolFlag{Name: "force", Usage: "do not ask"},
		},
		Action: func(c *cli.Context) error { return withRuntime(c, e, pruneImages) }}
}

// needed gives the digests of the images that this directory needs: those of
// the state and lock files, and what the names in the manifests mean.
func (s *session) needed(c *cli.Context) (map[string]bool, error) {
	keep := map[string]bool{}
	path := s.statePathAround(c)
	held, err := state.ReadShared(c.Context, state.File(path), s.stateOptions(c, "image "+c.Command.Name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = held.Close() }() // it was only read
	for _, entry := range held.Snapshot.Resources {
		keep[entry.Digest] = true
	}
	lock, diags := config.ReadLock(s.dir)
	if diags.HasErrors() {
		return nil, diags
	}
	if lock != nil {
		for _, digest := range lock.Images {
			keep[digest] = true
		}
	}
	sources, diags := config.Find(s.dir, nil)
	if diags.HasErrors() {
		return keep, nil // there are no manifests here
	}
	inputs, _ := config.FindVariables(s.dir, s.env.Home, s.env.Environ, nil)
	m, diags := config.Load(sources, inputs, s.builtins())
	if diags.HasErrors() {
		return nil, append(diags, diag.Errorf("The manifests here cannot be read", "So it is not known which images they need. Mend them first, or work in another directory with -chdir."))
	}
	for _, r := range m.Resources() {
		if image, err := s.runtime.Resolve(c.Context, r.TypeRef); err == nil {
			keep[image.Digest] = true
		}
	}
	return keep, nil
}

func removeImages(c *cli.Context, s *session) error {
	if c.NArg() == 0 {
		return diag.Errorf("Wrong command line", "rm takes the names of images: deployster image rm acme/file:1")
	}
	refs := c.Args().Slice()
	var refused []error // one that is needed does not keep the others
	if !c.Bool("force") {
		keep, err := s.needed(c)
		if err != nil {
			return err
		}
		refs = slices.DeleteFunc(refs, func(ref string) bool {
			image, err := s.runtime.Resolve(c.Context, ref)
			needed := err == nil && keep[image.Digest]
			if needed {
				refused = append(refused, diag.Errorf("The image "+ref+" is needed", "The state file, the lock file or a manifest here is about it (%s). -force removes it nevertheless.", image.Digest))
			}
			return needed
		})
	}
	removed, err := s.runtime.Remove(c.Context, refs)
	s.removed(removed)
	return errors.Join(append(refused, err)...)
}

func pruneImages(c *cli.Context, s *session) error {
	if err := atMost(c, 0); err != nil {
		return err
	}
	keep, err := s.needed(c)
	if err != nil {
		return err
	}
	unused, err := s.runtime.Unused(c.Context, keep, c.Bool("all"))
	if err != nil {
		return err
	}
	if len(unused) == 0 {
		s.out.Printf("Nothing to remove.\n")
		return nil
	}
	if c.Bool("dry-run") {
		printImages(s.out, unused)
		return nil
	}
	if !c.Bool("force") {
		printImages(s.err, unused)
		s.err.Printf("\n%s", lostWarning(unused))
		if !s.env.Interactive {
			return diag.Errorf("Nobody to ask", "prune needs a yes, and there is no terminal to ask on. Nothing was removed. -force removes without asking, -dry-run only shows.")
		}
		yes, err := s.ui.Confirm(c.Context, "Remove these images?")
		if err != nil {
			return err
		}
		if !yes {
			return diag.Errorf("Not approved", "Nothing was removed.")
		}
	}
	names := map[string]bool{}
	for _, i := range unused {
		names[i.Name] = true
	}
	removed, err := s.runtime.Remove(c.Context, slices.Sorted(maps.Keys(names)))
	s.removed(removed)
	return err
}

// lostWarning says how many images cannot be had again from a registry.
func lostWarning(list []containerd.ImageInfo) string {
	lost := 0
	for _, i := range list {
		if i.From == "" {
			lost++
		}
	}
	if lost == 0 {
		return "All of them can be pulled again.\n"
	}
	return "Those without a FROM were made or brought in here, and cannot be pulled again.\n"
}

// removed says what went, and how much that was.
func (s *session) removed(list []containerd.ImageInfo) {
	var size int64
	counted := map[string]bool{}
	for _, i := range list {
		if !counted[i.Digest] {
			counted[i.Digest], size = true, size+i.Size
		}
		s.out.Printf("Removed %s (%s)\n", i.Name, i.Digest)
	}
	if len(list) > 0 {
		s.out.Printf("%s of images, less what others share with them.\n", words.Bytes(size))
	}
}
