package cli

import (
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/savedplan"
	"deployster/internal/base/diag"
	"deployster/internal/cli/states"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/planpage"
	"deployster/internal/ui/render"
	"deployster/plan"
)

func showCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show a saved plan, or the state",
		ArgsUsage: "[PLAN]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "as JSON, without sensitive values"},
			&cli.BoolFlag{Name: "html", Usage: "a saved plan as a web page, without sensitive values"},
			&cli.BoolFlag{Name: "markdown", Usage: "a saved plan as a comment for a review, without sensitive values"},
			&cli.BoolFlag{Name: "digest", Usage: "print the digest of a saved plan, and nothing else"},
			requireSignatureFlag(), compactFlag(), explainFlag(),
		},
		Action: e.action(runShow),
	}
}

func runShow(c *cli.Context, s *session) error {
	if c.NArg() > 1 {
		return diag.Errorf("Unexpected argument", "show takes one plan file at the most.")
	}
	if only := slices.DeleteFunc([]string{"json", "html", "markdown", "digest"}, func(f string) bool { return !c.Bool(f) }); len(only) > 1 {
		return diag.Errorf("Conflicting flags", "-%s and -%s exclude each other. Remove one of them.", only[0], only[1])
	}
	if c.NArg() == 1 {
		return showPlan(c, s)
	}
	for _, flag := range []string{"html", "markdown", "digest", "require-signature", "explain"} {
		if c.IsSet(flag) {
			return diag.Errorf("Missing argument", "-%s needs a saved plan: `deployster show -%s PLAN`.", flag, flag)
		}
	}
	snapshot, err := states.Recorded(c.Context, s.engine.Workspace)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		content, err := snapshot.Masked().Encode()
		if err != nil {
			return err
		}
		s.out.JSON(content)
		return nil
	}
	s.out.State(snapshot)
	return nil
}

func showPlan(c *cli.Context, s *session) error {
	saved, err := savedplan.Show(s.engine.Workspace, c.Args().First(), given(c, "require-signature"), c.Bool("digest") || c.Bool("html") ||
		c.Bool("markdown") || c.Bool("json"))
	if err != nil {
		return err
	}
	switch {
	case c.Bool("digest"):
		s.out.Printf("%s\n", saved.Digest)
		return nil
	case c.Bool("html"):
		return printPage(s, saved)
	case c.Bool("markdown"):
		s.out.Comment(saved.Plan, saved.Digest, saved.SignedBy)
		return nil
	case c.IsSet("explain"):
		return s.engine.ExplainSaved(c.Context, saved.Plan, wordsOf(c, "explain"))
	case c.Bool("json"):
		return s.out.Document(saved.Masked(s.engine.Workspace.Secrets))
	}
	s.out.Plan(saved.Plan)
	for _, key := range saved.SignedBy {
		s.out.Printf("Signed with the key %s.\n", key)
	}
	if saved.Begins != nil {
		s.out.Printf("It begins %s.\n", saved.Begins)
	}
	return nil
}

// printPage prints a plan as a web page. Secrets are hidden in each of its texts: hiding
// them in the whole page could also hide words of its markup.
func printPage(s *session, saved savedplan.Shown) error {
	p := planpage.Page{Plan: saved.Plan, File: filepath.Base(saved.File), Digest: saved.Digest, SignedBy: saved.SignedBy,
		Hide: s.engine.Workspace.Secrets.Hide}
	p.Changes = func(step *plan.Step) (jsondiff.Diff, map[string][]string) {
		return render.Changes(step, s.engine.Workspace.Secrets.Hide)
	}
	if err := planpage.Write(s.out.Out, p); err != nil {
		return diag.Errorf("Cannot write the page", "%s.", err)
	}
	return nil
}
