package artifacts

import (
	"github.com/urfave/cli/v2"

	"deployster/internal/app/pins"
	"deployster/internal/app/versions"
	"deployster/internal/base/diag"
)

func remove(c *cli.Context, s Session) (int, error) {
	if err := takes(c, 2, -1); err != nil {
		return failed, err
	}
	parts, err := versions.ParsePairs(c.Args().Tail())
	if err != nil {
		return failed, err
	}
	client, unlock, err := pins.OpenLocked(c.Context, s.Engine, s.Inputs, "artifact delete")
	if err != nil {
		return failed, err
	}
	defer unlock()
	v, run, err := client.Deletable(c.Context, c.Args().First(), parts)
	if err != nil {
		return failed, err
	}
	name, version := diag.Visible(c.Args().First()), inSpace(v.Space, v.Version)
	if !c.Bool("yes") {
		yes, err := s.Confirm(c.Context, "Delete "+version+" of artifact."+name+" where it comes from? It cannot be restored.", false)
		if err != nil {
			return failed, err
		}
		if !yes {
			return failed, diag.Errorf("Not deleted", "Nothing was changed. Without a terminal -yes answers the question.")
		}
	}
	if err := run(c.Context); err != nil {
		return failed, err
	}
	s.Out.Printf("Deleted %s of artifact.%s.\n", version, name)
	return done, nil
}
