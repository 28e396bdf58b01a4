package cli

import (
	"encoding/json"
	"runtime"

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
		Action: func(c *cli.Context) error {
			if err := atMost(c, 0); err != nil {
				return err
			}
			s, err := newSession(c, e)
			if err != nil {
				return err
			}
			platform := runtime.GOOS + "/" + runtime.GOARCH
			if !c.Bool("json") {
				s.out.Printf("deployster %s %s\n", Version, platform)
				return nil
			}
			content, err := json.MarshalIndent(shownVersion{Format: 1, Version: Version, Platform: platform}, "", "  ")
			if err != nil {
				return err
			}
			s.out.JSON(content)
			return nil
		},
	}
}
