package cli

import (
	"runtime"

	"deployster/internal/cli/flagvalues"

	"github.com/urfave/cli/v2"
)

// shownVersion is what `version -json` prints.
type shownVersion struct {
	Format   int    `json:"format"`
	Version  string `json:"version"`
	Platform string `json:"platform"` // such as linux/amd64
}

func versionCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
		Action: e.action(func(c *cli.Context, s *session) error {
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if err := flagvalues.AtMost(c, 0); err != nil {
				return err
			}
			if c.Bool("json") {
				return s.out.Document(shownVersion{Format: 1, Version: Version, Platform: platform})
			}
			s.out.Printf("deployster %s %s\n", Version, platform)
			return nil
		}),
	}
}
