package cli

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
	"deployster/internal/runner/typeclient"
	"deployster/internal/ui/typeview"
)

func typeCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:            "type",
		HideHelpCommand: true,
		Usage:           "look at resource types, and test them",
		Subcommands: []*cli.Command{
			{Name: "inspect", Usage: "say what an image is: its config, its state, what it needs and what it can do", ArgsUsage: "IMAGE",
				Description: "It runs the image's init, without network and mounts, and nothing else.",
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "json", Usage: "as JSON"},
					&cli.BoolFlag{Name: "schema", Usage: "print the JSON Schema of the config, and nothing else"},
				},
				Action: func(c *cli.Context) error { return withRuntime(c, e, inspectType) }},
			testCommand(e),
		},
		Action: func(c *cli.Context) error { return cli.ShowSubcommandHelp(c) },
	}
}

func inspectType(c *cli.Context, s *session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong command line", "inspect takes one image: deployster type inspect acme/file:1")
	}
	t, err := s.inspect(c.Context, c.Args().First())
	switch {
	case err != nil:
		return err
	case c.Bool("schema"):
		schema := t.ConfigSchema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, schema, "", "  "); err != nil {
			return err
		}
		s.out.JSON(b.Bytes())
	case c.Bool("json"):
		return s.out.Document(t)
	default:
		typeview.Print(s.out, t)
	}
	return nil
}

// inspect asks an image what it is.
func (s *session) inspect(ctx context.Context, name string) (typeview.Document, error) {
	image, err := s.runtime.Resolve(ctx, name)
	if err != nil {
		return typeview.Document{}, err
	}
	client := typeclient.New(typeclient.Options{Runner: s.runtime, Version: Version, Verbose: s.verbose, Workspace: s.dir, Log: s.line})
	ty, err := client.Init(ctx, typeclient.Target{Address: "inspect", Reference: name, Digest: image.Digest})
	if err != nil {
		return typeview.Document{}, err
	}
	return typeview.Describe(image.Reference, ty), nil
}
