package plans

import (
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/app/savedplan"
	"deployster/internal/base/diag"
	"deployster/internal/cli/flagvalues"
	"deployster/internal/cli/states"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/planpage"
	"deployster/internal/ui/render"
	"deployster/plan"
)

// ShowCommand returns the command that shows a plan or the state. action makes a cli action of a function that runs in a
// session, and shared are the flags that other commands have too.
func ShowCommand(action func(Run) cli.ActionFunc, shared ...cli.Flag) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show a saved plan, or the state",
		ArgsUsage: "[PLAN]",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "as JSON, without sensitive values"},
			&cli.BoolFlag{Name: "html", Usage: "a saved plan as a web page, without sensitive values"},
			&cli.BoolFlag{Name: "markdown", Usage: "a saved plan as a comment for a review, without sensitive values"},
			&cli.BoolFlag{Name: "digest", Usage: "print the digest of a saved plan, and nothing else"},
			requireSignatureFlag(),
		}, shared),
		Action: action(show),
	}
}

func show(c *cli.Context, s Session) error {
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
	snapshot, err := states.Recorded(c.Context, s.Engine.Workspace)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		content, err := snapshot.Masked().Encode()
		if err != nil {
			return err
		}
		s.Out.JSON(content)
		return nil
	}
	s.Out.State(snapshot)
	return nil
}

func showPlan(c *cli.Context, s Session) error {
	saved, err := savedplan.Show(s.Engine.Workspace, c.Args().First(), flagvalues.Given(c, "require-signature"),
		c.Bool("digest") || c.Bool("html") || c.Bool("markdown") || c.Bool("json"))
	if err != nil {
		return err
	}
	switch {
	case c.Bool("digest"):
		s.Out.Printf("%s\n", saved.Digest)
		return nil
	case c.Bool("html"):
		return printPage(s, saved)
	case c.Bool("markdown"):
		s.Out.Comment(saved.Plan, saved.Digest, saved.SignedBy)
		return nil
	case c.IsSet("explain"):
		return s.Engine.ExplainSaved(c.Context, saved.Plan, flagvalues.WordsOf(c, "explain"))
	case c.Bool("json"):
		return s.Out.Document(saved.Masked(s.Engine.Workspace.Secrets))
	}
	s.Out.Plan(saved.Plan)
	for _, key := range saved.SignedBy {
		s.Out.Printf("Signed with the key %s.\n", key)
	}
	if saved.Begins != nil {
		s.Out.Printf("It begins %s.\n", saved.Begins)
	}
	return nil
}

// printPage prints a plan as a web page. Secrets are hidden in each of its texts: hiding
// them in the whole page could also hide words of its markup.
func printPage(s Session, saved savedplan.Shown) error {
	p := planpage.Page{Plan: saved.Plan, File: filepath.Base(saved.File), Digest: saved.Digest, SignedBy: saved.SignedBy,
		Hide: s.Engine.Workspace.Secrets.Hide}
	p.Changes = func(step *plan.Step) (jsondiff.Diff, map[string][]string) {
		return render.Changes(step, s.Engine.Workspace.Secrets.Hide)
	}
	if err := planpage.Write(s.Out.Out, p); err != nil {
		return diag.Errorf("Cannot write the page", "%s.", err)
	}
	return nil
}
