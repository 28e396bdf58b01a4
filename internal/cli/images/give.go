package images

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/app/images"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner/imagestore"
)

func tagImage(c *cli.Context, s Session) error {
	if c.NArg() < 2 {
		return diag.Errorf("Missing argument", "tag takes an image that is here, and its new names: deployster image tag SOURCE TARGET "+
			"...")
	}
	store, err := s.Store(c.Context)
	if err != nil {
		return err
	}
	list, err := store.Tag(c.Context, c.Args().First(), c.Args().Tail())
	if len(list) > 0 {
		printImages(s.Out, list)
	}
	return err
}

func pushImage(c *cli.Context, s Session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong number of arguments", "push takes the name of one image, with its registry: deployster image push "+
			"REGISTRY/NAME:TAG")
	}
	store, err := s.Store(c.Context)
	if err != nil {
		return err
	}
	image, err := store.Push(c.Context, c.Args().First(), c.Args().First())
	if err != nil {
		return err
	}
	s.Out.Printf("Pushed %s\nPlan with it by digest: %s\n", image.Name, imagestore.WithDigest(image.Name, image.Digest))
	return nil
}

// agentImage is the image of deployster-pod, which comes with deployster.
const agentImage = imagestore.Own + "pod"

func pushAgent(c *cli.Context, s Session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong number of arguments", "push-agent takes a name for the image, with a registry that the nodes of the "+
			"cluster reach: deployster image push-agent REGISTRY/NAME")
	}
	store, err := s.Store(c.Context)
	if err != nil {
		return err
	}
	image, err := store.Push(c.Context, agentImage, c.Args().First())
	if err != nil {
		return err
	}
	s.Out.Printf("Pushed %s\nWrite in the block kubernetes of a host: agent = %q\n", image.Name,
		imagestore.WithDigest(image.Name, image.Digest))
	return nil
}

func saveImage(c *cli.Context, s Session) error {
	if c.NArg() != 2 {
		return diag.Errorf("Wrong number of arguments", "save takes an image and a file, an existing directory, or - for standard output.")
	}
	store, err := s.Store(c.Context)
	if err != nil {
		return err
	}
	if c.Args().Get(1) == "-" {
		return store.Save(c.Context, c.Args().First(), s.Engine.Workspace.Options.Stdout)
	}
	return images.SaveTo(c.Context, store, c.Args().First(), s.Engine.Workspace.Path(c.Args().Get(1)))
}
