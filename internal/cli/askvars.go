package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/base/diag"
)

// inputFlag belongs to the commands that ask for variables.
func inputFlag() cli.Flag {
	return &cli.BoolFlag{Name: "input", Value: true, Usage: "on a terminal, ask for variables that have no value (default: true)"}
}

// askVariables asks the person at the terminal for variables that nothing else
// gives a value, when there is such a person and that is all that is wrong.
func (s *session) askVariables(c *cli.Context, m *config.Manifest, diags diag.Diagnostics) ([]config.VarInput, error) {
	wanted := m.Missing()
	failed := 0
	for _, d := range diags {
		if d.Severity == diag.Error {
			failed++
		}
	}
	if !c.Bool("input") || !s.env.Interactive || len(wanted) == 0 || failed != len(wanted) {
		return nil, nil
	}
	var answers []config.VarInput
	for _, v := range wanted {
		text, err := s.ui.AskVariable(c.Context, v)
		if err != nil {
			if c.Context.Err() != nil {
				return nil, context.Cause(c.Context)
			}
			return nil, diag.Errorf("A variable has no value", "Nothing was typed for var.%s (%s). Nothing was changed.", v.Name, err)
		}
		if v.Sensitive {
			s.vault.add([]string{text})
		}
		answers = append(answers, config.Answered(v.Name, text))
	}
	return answers, nil
}
