package typetest

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"deployster/internal/app"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/conformance"
	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
)

// wholeMachine checks the options of a type that gets a machine as a whole.
func wholeMachine(c *cli.Context, o *conformance.Options) error {
	wrong := func(detail string, args ...any) error { return diag.Errorf("Invalid arguments", detail, args...) }
	whole := c.Bool("whole-machine")
	switch {
	case !whole:
		return nil
	case len(o.Plugs) > 0:
		return wrong("-plug and -whole-machine exclude each other: the image sees all paths of the machine.")
	case o.Settings.Network == runner.NoNetwork:
		return wrong("-network none and -whole-machine exclude each other: the image has the machine's network.")
	}
	o.Settings.WholeMachine, o.Settings.Network = true, ""
	return nil
}

// place returns where the image runs, after a person has approved that it gets the machine there.
func place(c *cli.Context, s Session, o *conformance.Options) (app.Runtime, error) {
	host := c.String("host")
	if o.Settings.WholeMachine {
		where := "this machine"
		if host != "" {
			where = "the host " + diag.Visible(host)
		}
		if err := s.Engine.MayHaveMachine(o.Image); err != nil {
			return nil, err
		}
		if err := approve(c, s, o.Image, where); err != nil {
			return nil, err
		}
	}
	// No state records what a test does: each one has a fence of its own.
	as := remote.Hello{Lineage: rand.Text(), Epoch: 1, Run: "test", Process: "deployster type test",
		Store: "none"} // there is no state that could be lost
	return app.RuntimeOn(c.Context, s.Engine, s.Inputs, host, as)
}

// approve warns of what the image may do, and asks a person.
func approve(c *cli.Context, s Session, image, where string) error {
	s.Err.Printf("%s gets %s, on %s: a test creates, changes and destroys things there, and a fault of the image may damage it. Use a "+
		"machine that may be lost.\n", diag.Visible(image), runner.WholeMachine, where)
	switch {
	case c.Bool("auto-approve"):
		return nil
	case !s.Interactive:
		return diag.Errorf("Not approved", "There is no terminal to prompt on. -auto-approve approves it.")
	}
	yes, err := s.Confirm(c.Context, fmt.Sprintf("Test it on %s?", where), true)
	if err == nil && !yes {
		err = errors.New("not approved: nothing was run")
	}
	return err
}
