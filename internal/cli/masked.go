package cli

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/jsondoc"
	"deployster/plan"
	"deployster/protocol"
)

// planJSON gives plan.json without sensitive values, and what the plan file
// says of it.
func (s *session) planJSON(p *plan.Plan, digest, signedBy string) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		*plan.Plan
		Digest   string `json:"digest"`
		SignedBy string `json:"signed_by,omitempty"`
	}{s.masked(p), digest, signedBy})
	return out.Bytes(), err
}

// masked gives a plan without sensitive values: those that are marked, and
// those that images repeated elsewhere.
func (s *session) masked(p *plan.Plan) *plan.Plan {
	shown := *p
	shown.Resources = map[string]*plan.Step{}
	for addr, step := range p.Resources {
		shown.Resources[addr] = s.maskedStep(step)
	}
	shown.Checks = s.maskedChecks(p.Checks)
	shown.Outputs = maps.Clone(p.Outputs)
	for name, o := range shown.Outputs {
		if o.Sensitive {
			o.Value = jsondoc.Mask(o.Value, []string{""})
			shown.Outputs[name] = o
		}
	}
	shown.Variables = maps.Clone(p.Variables)
	for name := range shown.Variables {
		if slices.Contains(p.SensitiveVariables, name) {
			shown.Variables[name] = jsondoc.Mask(shown.Variables[name], []string{""})
		}
	}
	return &shown
}

// maskedChecks hides what the messages of checks quote.
func (s *session) maskedChecks(list []config.CheckResult) []config.CheckResult {
	list = slices.Clone(list)
	for i, c := range list {
		c.Messages = slices.Clone(c.Messages)
		for j := range c.Messages {
			c.Messages[j] = s.vault.hide(c.Messages[j])
		}
		list[i] = c
	}
	return list
}

// maskedStep is the same for one resource.
func (s *session) maskedStep(step *plan.Step) *plan.Step {
	c := *step
	secrets := stepSecrets(step)
	c.Config = jsondoc.Mask(step.Config, step.Sensitive)
	c.State, c.Stale = jsondoc.Mask(step.State, step.Hidden), jsondoc.Mask(step.Stale, step.Hidden)
	c.Forecast = jsondoc.Mask(step.Forecast, plan.SensitivePointers(step.Forecast, secrets, step.Sensitive))
	if step.Was != nil {
		c.Was = &plan.Was{State: jsondoc.Mask(step.Was.State, step.Was.Sensitive), Sensitive: step.Was.Sensitive}
	}
	c.Settings.Env = maps.Clone(step.Settings.Env)
	for _, name := range step.SecretEnv {
		c.Settings.Env[name] = jsondoc.Masked
	}
	c.Reason, c.Notes = s.vault.hide(step.Reason), slices.Clone(step.Notes)
	for i := range c.Notes {
		c.Notes[i] = s.vault.hide(c.Notes[i])
	}
	c.Reasons = s.maskedReasons(step, secrets)
	c.Actions = slices.Clone(step.Actions)
	for i := range c.Actions {
		c.Actions[i] = s.maskedAction(c.Actions[i])
	}
	if step.Shutdown != nil {
		first := s.maskedAction(*step.Shutdown)
		c.Shutdown = &first
	}
	if step.Old != nil {
		c.Old = s.maskedStep(step.Old)
	}
	return &c
}

// stepSecrets gives what must not be shown of a step: what its config holds, and
// what the state that was found holds.
func stepSecrets(step *plan.Step) []string {
	secrets := plan.Secrets(step.Config, step.Sensitive)
	for _, there := range []json.RawMessage{step.State, step.Stale} {
		if len(there) > 0 {
			secrets = append(secrets, plan.Secrets(there, step.Hidden)...)
		}
	}
	if step.Was != nil {
		secrets = append(secrets, plan.Secrets(step.Was.State, step.Was.Sensitive)...)
	}
	if step.Old != nil {
		secrets = append(secrets, stepSecrets(step.Old)...)
	}
	return secrets
}

// maskedReasons hides the values of reasons that speak of something sensitive.
func (s *session) maskedReasons(step *plan.Step, secrets []string) []protocol.Reason {
	reasons := slices.Clone(step.Reasons)
	for i, r := range reasons {
		r.Have = jsondoc.Mask(r.Have, plan.SecretPointers(r.Have, secrets))
		r.Want = jsondoc.Mask(r.Want, plan.SecretPointers(r.Want, secrets))
		if touches(step.Sensitive, r.Path) {
			r.Have, r.Want = jsondoc.Mask(r.Have, []string{""}), jsondoc.Mask(r.Want, []string{""})
		}
		r.Message = s.vault.hide(r.Message)
		reasons[i] = r
	}
	return reasons
}

// touches reports whether a path is one of the pointers, above or below one.
func touches(pointers []string, path string) bool {
	return slices.ContainsFunc(pointers, func(p string) bool {
		return p == path || p == "" || path == "" || strings.HasPrefix(p, path+"/") || strings.HasPrefix(path, p+"/")
	})
}

// maskedAction hides what an image put into an action.
func (s *session) maskedAction(a protocol.Action) protocol.Action {
	a.Name, a.Description = s.vault.hide(a.Name), s.vault.hide(a.Description)
	a.Args = slices.Clone(a.Args)
	for i := range a.Args {
		a.Args[i] = s.vault.hide(a.Args[i])
	}
	return a
}
