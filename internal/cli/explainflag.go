package cli

import (
	"strings"

	"github.com/urfave/cli/v2"

	"deployster/config"
	"deployster/internal/ui/render"
	"deployster/plan"
	"deployster/state"
)

func explainFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "explain", Usage: "show what makes the change of the resource at `ADDRESS`, and nothing else"}
}

// planOrWhy prints a plan, or what -explain asks of it. The state is the one
// that the plan was made from, or what has become of it.
func (s *session) planOrWhy(c *cli.Context, p *plan.Plan, m *config.Manifest, prior state.Snapshot) error {
	asked := c.StringSlice("explain")
	if len(asked) == 0 {
		s.out.Plan(p)
		return nil
	}
	if len(p.Instances) > 0 {
		expanded, diags := m.With(p.Instances)
		if diags.HasErrors() {
			return diags
		}
		m = expanded
	}
	for _, addr := range asked {
		e, err := p.Explain(m, prior, strings.TrimPrefix(addr, "resource."), render.ToExplain)
		if err != nil {
			return err
		}
		s.out.Printf("%s", render.Explain(e, s.out.Options()))
	}
	s.out.Printf("%s\n", render.Summary(p))
	return nil
}

// showWhy is planOrWhy for a saved plan: its manifests are in it.
func (s *session) showWhy(c *cli.Context, p *plan.Plan) error {
	m, err := s.replay(p.Sources, p.Variables, p.Created)
	if err != nil {
		return err
	}
	snapshot, err := s.readState(c.Context, s.statePath(c, m))
	if err != nil {
		return err
	}
	for _, entry := range snapshot.Resources {
		s.vault.add(plan.EntrySecrets(entry))
	}
	return s.planOrWhy(c, p, m, snapshot)
}
