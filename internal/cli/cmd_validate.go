package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/render"
)

func validateCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "check manifests, without running any image",
		ArgsUsage: "[PATH ...]",
		Description: "PATH names manifests or directories of them; the default is the working directory.\n" +
			"It needs no state file, and no values of variables: those that are not given are taken as unknown.",
		Flags: slices.Concat(varFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "as JSON, with the keys of `terraform validate -json`"},
		}),
		Action: func(c *cli.Context) error { return runValidate(c, e) },
	}
}

func runValidate(c *cli.Context, e Env) error {
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	m, diags, err := s.read(c, config.Check)
	if err != nil {
		diags = diag.From("Error", err)
	} else {
		s.vault.add(m.Secrets())
	}
	if c.Bool("json") {
		content, err := diag.NewReport(diags, s.vault.hide).Encode()
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
		return s.hidden(diags)
	}
	s.err.Diagnostics(diags)
	s.out.Printf("%s The manifest is valid: %s.\n", render.Green("Success!"), words.Count(len(m.Resources()), "resource"))
	return nil
}
