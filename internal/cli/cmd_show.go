package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"deployster/internal/diag"
	"deployster/internal/strictjson"
	"deployster/plan"
	"deployster/state"
)

func showCommand(e Env) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show a saved plan, or what the state file remembers",
		ArgsUsage: "[PLAN]",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON, without sensitive values"}},
		Action:    func(c *cli.Context) error { return runShow(c, e) },
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
	if c.NArg() == 1 {
		return s.showPlan(c)
	}
	snapshot, recovery, err := state.Load(s.statePathAround(c))
	if err != nil {
		return err
	}
	s.tell(recovery)
	if c.Bool("json") {
		content, err := snapshot.Masked().Encode()
		if err != nil {
			return err
		}
		s.out.printf("%s", content)
		return nil
	}
	s.out.stateView(snapshot)
	return nil
}

func (s *session) showPlan(c *cli.Context) error {
	p, err := s.readPlan(c.Args().First())
	if err != nil {
		return err
	}
	if !c.Bool("json") {
		s.out.planView(p)
		return nil
	}
	content, err := masked(p)
	if err != nil {
		return err
	}
	s.out.printf("%s", content)
	return nil
}

// masked gives plan.json without sensitive values: those that are marked, and
// those that images repeated elsewhere.
func masked(p *plan.Plan) ([]byte, error) {
	shown := *p
	shown.Resources = map[string]*plan.Step{}
	for addr, step := range p.Resources {
		s := *step
		secrets := plan.Secrets(step.Config, step.Sensitive)
		s.Config = strictjson.Mask(step.Config, step.Sensitive)
		s.State, s.Stale = strictjson.Mask(step.State, step.Hidden), strictjson.Mask(step.Stale, step.Hidden)
		s.Forecast = strictjson.Mask(step.Forecast, plan.SensitivePointers(step.Forecast, secrets, step.Sensitive))
		s.Settings.Env = maps.Clone(step.Settings.Env)
		for _, name := range step.SecretEnv {
			s.Settings.Env[name] = strictjson.Masked
		}
		s.Reasons = slices.Clone(step.Reasons)
		for i := range s.Reasons {
			s.Reasons[i].Have = strictjson.Mask(s.Reasons[i].Have, plan.SecretPointers(s.Reasons[i].Have, secrets))
			s.Reasons[i].Want = strictjson.Mask(s.Reasons[i].Want, plan.SecretPointers(s.Reasons[i].Want, secrets))
			s.Reasons[i].Message = scrub(s.Reasons[i].Message, secrets)
		}
		shown.Resources[addr] = &s
	}
	shown.Outputs = maps.Clone(p.Outputs)
	for name, o := range shown.Outputs {
		if o.Sensitive {
			o.Value = strictjson.Mask(o.Value, []string{""})
			shown.Outputs[name] = o
		}
	}
	shown.Variables = maps.Clone(p.Variables)
	for name := range shown.Variables {
		if slices.Contains(p.SensitiveVariables, name) {
			shown.Variables[name] = strictjson.Mask(shown.Variables[name], []string{""})
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(&shown)
	return out.Bytes(), err
}

// stateView prints what is remembered.
func (p printer) stateView(s state.Snapshot) {
	if len(s.Resources) == 0 {
		p.printf("The state file remembers no resources.\n")
	}
	for i, addr := range slices.Sorted(maps.Keys(s.Resources)) {
		entry := s.Resources[addr]
		if i > 0 {
			p.printf("\n")
		}
		p.printf("%s  %s\n", p.style.bold(addr), p.style.dim(fmt.Sprintf("(%s, valid at %s)", diag.Visible(entry.Type), entry.ValidAt.Format(time.RFC3339))))
		if len(entry.Dependencies) > 0 {
			p.printf("  depends on %s\n", strings.Join(entry.Dependencies, ", "))
		}
		p.printf("  state = %s\n", values{sensitive: entry.Sensitive.State}.text(entry.State, 2))
	}
	p.outputs(s)
}

// outputs prints the outputs.
func (p printer) outputs(s state.Snapshot) {
	if len(s.Outputs) == 0 {
		return
	}
	p.printf("\nOutputs:\n")
	for _, name := range slices.Sorted(maps.Keys(s.Outputs)) {
		p.printf("  %s = %s\n", name, outputText(s.Outputs[name]))
	}
}
