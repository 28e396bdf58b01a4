package cli

import (
	"github.com/urfave/cli/v2"

	judging "deployster/internal/app/policy"
	"deployster/internal/base/diag"
)

func policyCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:  "policy",
		Usage: "test policies",
		Subcommands: []*cli.Command{{
			Name: "test", Usage: "have policies judge the plans of test cases", ArgsUsage: "DIR",
			Description: "DIR has policy blocks in its .hcl files, and cases in cases/NAME: plan.json, as show -json prints it, and " +
				"expect.json.\n" +
				"Exit codes: 0 all cases passed, 1 a case failed.",
			Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
			Action: e.action(testPolicies),
		}},
	}
}

func testPolicies(c *cli.Context, s *session) error {
	if c.NArg() != 1 {
		return diag.Errorf("Wrong number of arguments", "test takes the directory of the policies: deployster policy test DIR")
	}
	s.keep = 0
	cases, err := s.engine.TestPolicies(c.Context, s.engine.Workspace.Path(c.Args().First()))
	if err != nil {
		return err
	}
	failed := 0
	for _, one := range cases {
		if !one.Passed {
			failed++
		}
	}
	if c.Bool("json") {
		if err := s.out.Document(struct {
			Format int            `json:"format"`
			Cases  []judging.Case `json:"cases"`
		}{1, cases}); err != nil {
			return err
		}
	} else {
		printCases(s, cases, failed)
	}
	if failed > 0 {
		return exitStatus(exitError)
	}
	return nil
}

// printCases prints the cases as go test prints tests.
func printCases(s *session, cases []judging.Case, failed int) {
	for _, one := range cases {
		word := "ok  "
		if !one.Passed {
			word = "FAIL"
		}
		s.out.Printf("%s  %s\n", word, diag.Visible(one.Name))
		for _, line := range one.Wrong {
			s.out.Printf("        %s\n", diag.Visible(line))
		}
	}
	s.out.Printf("%d passed, %d failed.\n", len(cases)-failed, failed)
}
