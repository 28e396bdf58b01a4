package standalone

import (
	"context"
	"os"
	"regexp"
	"strings"

	"deployster/internal/app/cases"
	"deployster/internal/app/workspace"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/terminal"
)

// TestOptions are the flags and the arguments of Test.
type TestOptions struct {
	Files []string
	Match string // a regular expression; "" = all cases
	JUnit string // a file; "" = none
}

// Test runs tests of manifests, and prints how they ended. It reports whether all have passed.
func Test(ctx context.Context, w *workspace.Workspace, out terminal.Printer, o TestOptions) (passed bool, err error) {
	match, err := regexp.Compile(o.Match)
	if err != nil {
		return false, diag.Errorf("Invalid flag value", "The value of -run is not a regular expression: %s.", err)
	}
	report, err := cases.Run(ctx, w, cases.Options{Files: o.Files, Match: match})
	if err != nil {
		return false, w.Secrets.Diagnostics(diag.From("Error", err))
	}
	for _, f := range report.Files() {
		printCases(w, out, f)
	}
	if len(report.Unknown) > 0 {
		w.Note("Note: configs of %s were not checked against schemas. To fetch the schemas of all types: deployster init",
			words.List(report.Unknown, 3))
	}
	if o.JUnit != "" {
		content, err := report.JUnit()
		if err == nil {
			err = os.WriteFile(w.Path(o.JUnit), []byte(w.Secrets.Hide(string(content))), 0o666)
		}
		if err != nil {
			return false, diag.Errorf("The results cannot be written", "%s.", err)
		}
	}
	switch {
	case len(report.Results) == 0 && o.Match == "":
		w.Note("Note: there are no tests here: no file whose name ends in .test.hcl has a case.")
	case len(report.Results) == 0:
		return false, diag.Errorf("No tests", "No case was run: none has a name that matches -run=%s.", diag.Visible(o.Match))
	}
	return report.Failed() == 0, nil
}

// printCases prints how the cases of a file ended, in the form of go test.
func printCases(w *workspace.Workspace, out terminal.Printer, f cases.FileReport) {
	for _, one := range f.Results {
		word := "PASS"
		if len(one.Failures) > 0 {
			word = "FAIL"
		}
		if word == "FAIL" || w.Verbose {
			out.Printf("--- %s: %s (%.2fs)\n", word, one.Name, one.Took.Seconds())
		}
		for _, line := range one.Failures {
			out.Printf("    %s\n", strings.ReplaceAll(w.Secrets.Hide(line), "\n", "\n        "))
		}
	}
	if f.Failed() > 0 {
		out.Printf("FAIL\t%s\t%.3fs\t%d of %s failed\n", f.Name, f.Took().Seconds(), f.Failed(), words.Count(len(f.Results), "case"))
		return
	}
	out.Printf("ok  \t%s\t%.3fs\t%s\n", f.Name, f.Took().Seconds(), words.Count(len(f.Results), "case"))
}
