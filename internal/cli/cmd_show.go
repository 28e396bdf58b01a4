package cli

import (
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"deployster/internal/base/diag"
	"deployster/internal/ui/jsondiff"
	"deployster/internal/ui/planpage"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/plan/planfile"
)

func showCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show a saved plan, or what the state file remembers",
		ArgsUsage: "[PLAN]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "as JSON, without sensitive values"},
			&cli.BoolFlag{Name: "html", Usage: "a saved plan as a page for a browser, without sensitive values"},
			&cli.BoolFlag{Name: "digest", Usage: "of a saved plan: nothing but the digest of what it means"},
			requireSignatureFlag(), compactFlag(), explainFlag(),
		},
		Action: func(c *cli.Context) error { return runShow(c, e) },
	}
}

func runShow(c *cli.Context, e Env) error {
	s, err := newSession(c, e)
	if err != nil {
		return err
	}
	if c.NArg() > 1 {
		return diag.Errorf("Wrong command line", "show takes one plan file at the most.")
	}
	if only := slices.DeleteFunc([]string{"json", "html", "digest"}, func(f string) bool { return !c.Bool(f) }); len(only) > 1 {
		return diag.Errorf("Wrong command line", "-%s and -%s are two ways to print: give one of them.", only[0], only[1])
	}
	if c.NArg() == 1 {
		return s.showPlan(c)
	}
	for _, flag := range []string{"html", "digest", "require-signature", "explain"} {
		if c.IsSet(flag) {
			return diag.Errorf("Wrong command line", "-%s is about a saved plan, and none was named: `deployster show -%s PLAN`.", flag, flag)
		}
	}
	path := s.statePathAround(c)
	snapshot, err := s.readState(c.Context, path)
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

func (s *session) showPlan(c *cli.Context) error {
	file := c.Args().First()
	p, signature, err := s.readPlan(file)
	if err != nil {
		return err
	}
	if c.IsSet("require-signature") {
		asked, err := s.policy(c)
		if err == nil {
			err = asked.check(file, p, signature)
		}
		if err != nil {
			return err
		}
	}
	digest := ""
	if c.Bool("digest") || c.Bool("html") || c.Bool("json") {
		if digest, err = planfile.Digest(p); err != nil {
			return err
		}
	}
	if c.Bool("digest") {
		s.out.Printf("%s\n", digest)
		return nil
	}
	for _, step := range p.Resources {
		s.vault.add(stepSecrets(step))
	}
	for _, name := range p.SensitiveVariables {
		s.vault.add(plan.Secrets(p.Variables[name], []string{"/value"}))
	}
	signedBy := ""
	if signature != nil {
		signedBy = string(signature.By())
	}
	if c.Bool("html") {
		return s.page(planpage.Page{Plan: p, File: filepath.Base(file), Digest: digest, SignedBy: signedBy})
	}
	if c.IsSet("explain") {
		return s.showWhy(c, p)
	}
	if !c.Bool("json") {
		s.out.Plan(p)
		if signedBy != "" {
			s.out.Printf("Signed with the key %s.\n", signedBy)
		}
		return nil
	}
	content, err := s.planJSON(p, digest, signedBy)
	if err != nil {
		return err
	}
	s.out.JSON(content)
	return nil
}

// page writes a page. Secrets are hidden in each of its texts: in the page as a
// whole that would hide words of its markup too.
func (s *session) page(p planpage.Page) error {
	p.Hide = s.vault.hide
	p.Changes = func(step *plan.Step) (jsondiff.Diff, map[string][]string) { return render.Changes(step, s.vault.hide) }
	if err := planpage.Write(s.out.Out, p); err != nil {
		return diag.Errorf("Cannot write the page", "%s.", err)
	}
	return nil
}
