package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/judging"
	"deployster/internal/app/typecache"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
)

func validateCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "check manifests and configs, without root and without running an image",
		ArgsUsage: "[PATH ...]",
		Description: "PATH is a directory to work in, like -chdir, or manifests; the default is the working directory.\n" +
			"It needs no state and no values of variables: those that are missing count as unknown.\n" +
			"Configs are held to the schemas that init, or a plan, has kept of their types here.\n" +
			"With -run-images the images of types that have a validate_action judge them too, which needs what plan needs.",
		Flags: slices.Concat(varFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "run-images", Usage: "also have the images of types judge configs, without network and plugs"},
			&cli.BoolFlag{Name: "json", Usage: "as JSON, with the keys of terraform validate -json"},
		}),
		Action: e.action(runValidate),
	}
}

func runValidate(c *cli.Context, s *session) error {
	m, diags := s.engine.Workspace.Check(c.Context, inputs(c, s))
	if !diags.HasErrors() {
		diags = append(diags, typecache.Check(s.engine.Workspace, m)...)
	}
	if c.Bool("run-images") && !diags.HasErrors() {
		more, err := judging.Validate(c.Context, s.engine, m)
		if err != nil {
			return err
		}
		diags = append(diags, more...)
	}
	if c.Bool("json") {
		content, err := diag.NewReport(diags, s.engine.Workspace.Secrets.Hide).Encode()
		if err != nil {
			return err
		}
		s.out.JSON(content)
		if diags.HasErrors() {
			return exitStatus(exitError)
		}
		return nil
	}
	if diags.HasErrors() {
		return s.engine.Workspace.Secrets.Diagnostics(diags)
	}
	s.engine.Workspace.Diagnostics(diags)
	s.out.Success("The manifest is valid: %s.", words.Count(len(m.Resources()), "resource"))
	return nil
}
