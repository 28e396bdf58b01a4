package cli

import (
	"os"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/cases"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
)

func casesCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "run the tests of manifests, without root, a container or a state",
		ArgsUsage: "[FILE.test.hcl | DIR ...]",
		Description: "A file whose name ends in .test.hcl has case blocks: variables, a world of existing objects, and what the plan must be.\n" +
			"Without arguments it runs those of the working directory. The environment's variables are not read.\n" +
			"Exit codes: 0 all passed, 1 one failed or there was an error.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "run only the cases with names that match this `REGEXP`, and those that they follow"},
			&cli.StringFlag{Name: "junit", Usage: "write the results to `FILE` too, as JUnit's XML"},
		},
		Action: e.action(runTest),
	}
}

func runTest(c *cli.Context, s *session) error {
	o := cases.Options{Files: c.Args().Slice()}
	if text := c.String("run"); text != "" {
		match, err := regexp.Compile(text)
		if err != nil {
			return diag.Errorf("Invalid flag value", "The value of -run is not a regular expression: %s.", err)
		}
		o.Match = match
	}
	report, err := cases.Run(c.Context, s.engine.Workspace, o)
	if err != nil {
		return s.engine.Workspace.Secrets.Diagnostics(diag.From("Error", err))
	}
	for _, f := range report.Files() {
		s.printCases(f)
	}
	if len(report.Unknown) > 0 {
		s.engine.Workspace.Note("Note: configs of " + words.List(report.Unknown, 3) + " were not checked against schemas. To fetch the schemas of " +
			"all types: deployster init")
	}
	if file := c.String("junit"); file != "" {
		content, err := report.JUnit()
		if err == nil {
			err = os.WriteFile(s.engine.Workspace.Path(file), content, 0o666)
		}
		if err != nil {
			return diag.Errorf("The results cannot be written", "%s.", err)
		}
	}
	switch {
	case len(report.Results) == 0:
		return diag.Errorf("No tests", "No case has a name that matches -run=%s.", c.String("run"))
	case report.Failed() > 0:
		return exitStatus(exitError)
	}
	return nil
}

// printCases prints how the cases of a file ended, in the form of go test.
func (s *session) printCases(f cases.FileReport) {
	hide := s.engine.Workspace.Secrets.Hide
	for _, one := range f.Results {
		word := "PASS"
		if len(one.Failures) > 0 {
			word = "FAIL"
		}
		if word == "FAIL" || s.engine.Workspace.Verbose {
			s.out.Printf("--- %s: %s (%.2fs)\n", word, one.Name, one.Took.Seconds())
		}
		for _, line := range one.Failures {
			s.out.Printf("    %s\n", strings.ReplaceAll(hide(line), "\n", "\n        "))
		}
	}
	if f.Failed() > 0 {
		s.out.Printf("FAIL\t%s\t%.3fs\t%d of %s failed\n", f.Name, f.Took().Seconds(), f.Failed(), words.Count(len(f.Results), "case"))
		return
	}
	s.out.Printf("ok  \t%s\t%.3fs\t%s\n", f.Name, f.Took().Seconds(), words.Count(len(f.Results), "case"))
}
