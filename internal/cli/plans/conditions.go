package plans

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/app/savedplan"
	"deployster/internal/cli/flagvalues"
)

func requireSignatureFlag() cli.Flag {
	return &cli.StringFlag{Name: "require-signature",
		Usage: "refuse a plan that is not signed with a key of `FILE` ($" + savedplan.RequireSignature + ")"}
}

// RequireFlags returns the flags of what a saved plan must be.
func RequireFlags() []cli.Flag {
	return []cli.Flag{
		requireDigestFlag(),
		requireSignatureFlag(),
	}
}

func requireDigestFlag() cli.Flag {
	return &cli.StringFlag{Name: "require-digest", Usage: "refuse a plan whose digest is not `DIGEST` (deployster show -digest prints it)"}
}

// Conditions returns the conditions of the flags on a plan.
func Conditions(c *cli.Context) savedplan.PolicyOptions {
	return savedplan.PolicyOptions{Digest: flagvalues.Given(c, "require-digest"), Deferred: flagvalues.Given(c, "deferred"),
		Signature: flagvalues.Given(c, "require-signature")}
}
