package plans

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/app/savedplan"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/ui/render"
)

// SignCommand returns the command that signs a plan.
func SignCommand(action func(Run) cli.ActionFunc) *cli.Command {
	return &cli.Command{
		Name:      "sign",
		Usage:     "add a signature to a saved plan",
		ArgsUsage: "PLAN",
		Description: "The signatures that the plan has already stay valid. The file is replaced at once; of -, for stdin, " +
			"the signed plan goes to stdout.\nIt runs no image.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "sign-key", Usage: "sign with the ed25519 key in `FILE`"},
			requireDigestFlag(),
		},
		Action: action(sign),
	}
}

func sign(c *cli.Context, s Session) error {
	switch {
	case c.NArg() != 1:
		return diag.Errorf("Missing argument", "sign takes one plan file: `deployster sign -sign-key=KEY PLAN`.")
	case !c.IsSet("sign-key"):
		return diag.Errorf("Missing flag", "-sign-key names the key to sign with, and is missing.")
	}
	w := s.Engine.Workspace
	policy, err := savedplan.PolicyOf(w.Options, savedplan.PolicyOptions{Digest: flagvalues.Given(c, "require-digest")})
	if err != nil {
		return err
	}
	file := c.Args().First()
	signed, err := savedplan.Sign(w, file, c.String("sign-key"), policy)
	if err != nil || file == workspace.Std {
		return err
	}
	s.Out.Success("%s is signed with the key %s. It has %s.", file, signed.SignedBy[len(signed.SignedBy)-1],
		words.Count(len(signed.SignedBy), "signature"))
	s.Out.Printf("%s\nIts digest is %s.\n", render.Summary(signed.Plan), signed.Digest)
	return nil
}
