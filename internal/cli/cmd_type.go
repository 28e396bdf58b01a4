package cli

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/app/machine"
	"deployster/internal/base/diag"
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/remote"
	"deployster/internal/ui/typeview"
)

func typeCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "type",
		Usage: "inspect and test resource types",
		Subcommands: []*cli.Command{
			{Name: "inspect", Usage: "show the config, the state, the plugs and the features of a type", ArgsUsage: "IMAGE",
				Description: "It runs nothing but the image's init, without network and mounts.",
				Flags: slices.Concat([]cli.Flag{
					&cli.BoolFlag{Name: "json", Usage: "as JSON"},
					&cli.BoolFlag{Name: "schema", Usage: "print only the JSON Schema of the config"},
					askOnFlag(),
				}, varFlags()),
				Action: e.action(inspectType)},
			testCommand(e),
		},
	}
}

func inspectType(c *cli.Context, s *session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong number of arguments", "inspect takes one image: deployster type inspect acme/file:1")
	}
	s.keep = 0
	in := inputs(c, s)
	in.Paths = nil // the argument is an image
	runtime, err := app.RuntimeOn(c.Context, s.engine, in, c.String("host"), remote.Hello{})
	if err != nil {
		return err
	}
	name, ty, err := machine.Inspect(c.Context, s.engine.Command(), runtime, c.Args().First())
	if err != nil {
		return err
	}
	t := typeview.Describe(name, ty)
	if t.ReadOnly, err = machine.ReadOnly(c.Context, runtime, ty.Digest); err != nil {
		return err
	}
	if c.String("host") == "" {
		t.Rootless = rootless.Lost()
	}
	switch {
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
