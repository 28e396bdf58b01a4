package typetest

import (
	"bytes"
	"encoding/json"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/app/machine"
	"deployster/internal/base/rootless"
	"deployster/internal/runtime/remote"
	"deployster/internal/ui/typeview"
)

// Inspect prints what the image of a type declares. It runs nothing but its init.
func Inspect(c *cli.Context, s Session) error {
	runtime, err := app.RuntimeOn(c.Context, s.Engine, s.Inputs, c.String("host"), remote.Hello{})
	if err != nil {
		return err
	}
	name, ty, err := machine.Inspect(c.Context, s.Engine.Command(), runtime, c.Args().First())
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
		s.Out.JSON(b.Bytes())
	case c.Bool("json"):
		return s.Out.Document(t)
	default:
		typeview.Print(s.Out, t)
	}
	return nil
}
