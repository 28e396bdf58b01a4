package redact

import (
	"encoding/json"
	"maps"
	"slices"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/plan/observe"
	"deployster/plan/verdict"
	"deployster/protocol"
)

// Redactor has the values that must never be shown, and takes them out of plans, checks
// and diagnostics.
type Redactor struct {
	secret.Set
	schemas typeschema.Schemas
}

// Plan returns a plan without sensitive values: those that are marked, and those that
// images repeated elsewhere.
func (r *Redactor) Plan(p *plan.Plan) *plan.Plan {
	shown := *p
	shown.Resources = map[string]*plan.Step{}
	for addr, step := range p.Resources {
		shown.Resources[addr] = spelled(r.Step(step))
	}
	shown.Unreached = maps.Clone(p.Unreached)
	for addr, why := range p.Unreached {
		shown.Unreached[addr] = why.Map(r.Hide).Spelled()
	}
	shown.Later = maps.Clone(p.Later)
	for addr, l := range p.Later {
		l.Reason = l.Reason.Map(r.Hide).Spelled()
		shown.Later[addr] = l
	}
	shown.Exclusive = nil
	for _, s := range p.Exclusive {
		shown.Exclusive = append(shown.Exclusive, s.Map(r.Hide))
	}
	r.artifacts(&shown)
	shown.Checks = r.Checks(p.Checks)
	shown.Policies = verdict.Map(p.Policies, r.Hide)
	shown.Outputs = maps.Clone(p.Outputs)
	for name, o := range shown.Outputs {
		if o.Sensitive {
			o.Value, o.Unknown = secret.Mask(o.Value, []string{""}), cut(o.Unknown, []string{""})
			shown.Outputs[name] = o
		}
	}
	shown.Operations = maps.Clone(p.Operations)
	for name, o := range shown.Operations {
		o.Input = secret.Mask(o.Input, o.Sensitive)
		shown.Operations[name] = o
	}
	shown.Remote = remotes(p.Remote)
	shown.Variables = maps.Clone(p.Variables)
	for name := range shown.Variables {
		if slices.Contains(p.SensitiveVariables, name) {
			shown.Variables[name] = secret.Mask(shown.Variables[name], []string{""})
		}
	}
	return &shown
}

// remotes hides the sensitive outputs of other states.
func remotes(all map[string]config.RemoteState) map[string]config.RemoteState {
	all = maps.Clone(all)
	for name, r := range all {
		r.Outputs = maps.Clone(r.Outputs)
		for output, o := range r.Outputs {
			if o.Sensitive {
				o.Value = secret.Mask(o.Value, []string{""})
				r.Outputs[output] = o
			}
		}
		all[name] = r
	}
	return all
}

// spelled puts the words into the reasons and notes of a step and of its old one.
func spelled(s *plan.Step) *plan.Step {
	s.Reason = s.Reason.Spelled()
	for i := range s.Notes {
		s.Notes[i] = s.Notes[i].Spelled()
	}
	if s.Old() != nil {
		spelled(s.Old())
	}
	return s
}

// artifacts hides the sensitive settings of artifacts, and the keys that contain them,
// also in the mounts that name those keys.
func (r *Redactor) artifacts(p *plan.Plan) {
	p.Artifacts = maps.Clone(p.Artifacts)
	names := map[string]string{}
	for name, pin := range p.Artifacts {
		if pin.Sensitive.Any() {
			names[pin.Key] = secret.Masked + " " + name
		}
		p.Artifacts[name] = pin.Masked()
	}
	for addr, step := range p.Resources {
		for i, m := range step.Mounts {
			if key, sub, ok := artifact.ParseMount(m.Source); ok && names[key] != "" {
				shown := *step
				shown.Mounts = slices.Clone(step.Mounts)
				shown.Mounts[i].Source = artifact.MountSource(names[key], sub)
				p.Resources[addr], step = &shown, &shown
			}
		}
	}
}

// Checks hides the secrets that messages of checks quote.
func (r *Redactor) Checks(list []config.CheckResult) []config.CheckResult {
	list = slices.Clone(list)
	for i, c := range list {
		c.Messages = slices.Clone(c.Messages)
		for j := range c.Messages {
			c.Messages[j] = r.Hide(c.Messages[j])
		}
		list[i] = c
	}
	return list
}

// Step returns the step of one resource without sensitive values.
func (r *Redactor) Step(step *plan.Step) *plan.Step {
	c := step.Copy()
	secrets := r.StepSecrets(step)
	c.Config = secret.Mask(step.Config, step.Sensitive)
	c.Unknown, c.MayChangeAt = cut(step.Unknown, step.Sensitive), secret.CutAll(step.MayChangeAt, step.Sensitive)
	c.Settings.Env = maps.Clone(step.Settings.Env)
	for _, name := range step.SecretEnv {
		c.Settings.Env[name] = secret.Masked
	}
	c.Reason, c.Notes = step.Reason.Map(r.Hide), slices.Clone(step.Notes)
	for i := range c.Notes {
		c.Notes[i] = c.Notes[i].Map(r.Hide)
	}
	r.answer(c, secrets)
	switch p := c.Part.(type) {
	case *change.Publish:
		p.Was = masked(p.Was)
	case *change.Deferred:
		p.Was = masked(p.Was)
	case *change.Record:
		p.Was = masked(p.Was)
	case *change.Replace:
		p.Old = r.Step(p.Old)
	}
	return c
}

// answer hides the sensitive values in the answer of a step.
func (r *Redactor) answer(step *plan.Step, secrets []string) {
	a := step.Answer()
	a.Memory = nil
	a.State, a.Stale = secret.Mask(a.State, a.Hidden), secret.Mask(a.Stale, a.Hidden)
	a.Forecast = secret.Mask(a.Forecast, observe.HiddenInState(&r.schemas, step.Init, a.Forecast, secrets, step.Sensitive))
	a.Reasons = r.reasons(step, secrets)
	a.Actions = slices.Clone(a.Actions)
	for i := range a.Actions {
		a.Actions[i] = r.action(a.Actions[i])
	}
	if a.Shutdown != nil {
		first := r.action(*a.Shutdown)
		a.Shutdown = &first
	}
}

// masked returns a recorded document without its sensitive values.
func masked(w *change.Was) *change.Was {
	if w == nil {
		return nil
	}
	return &change.Was{State: secret.Mask(w.State, w.Sensitive), Sensitive: w.Sensitive}
}

// StepSecrets returns the sensitive values of a step: those of its config, of the states
// that were found or recorded, of its forecast and of its old step.
func (r *Redactor) StepSecrets(step *plan.Step) []string {
	secrets, a := secret.Values(step.Config, step.Sensitive), step.Answer()
	for _, there := range []json.RawMessage{a.State, a.Stale} {
		if len(there) > 0 {
			secrets = append(secrets, secret.Values(there, a.Hidden)...)
		}
	}
	secrets = append(secrets, secret.Values(a.Forecast, observe.HiddenInState(&r.schemas, step.Init, a.Forecast, nil, nil))...)
	if step.Was() != nil {
		secrets = append(secrets, secret.Values(step.Was().State, step.Was().Sensitive)...)
	}
	if step.Old() != nil {
		secrets = append(secrets, r.StepSecrets(step.Old())...)
	}
	return secrets
}

// cut replaces pointers into a sensitive place by the pointer of that place; the first reason for each is kept.
func cut(unknown map[string]string, sensitive []string) map[string]string {
	if len(unknown) == 0 || len(sensitive) == 0 {
		return unknown
	}
	out := map[string]string{}
	for _, pointer := range slices.Sorted(maps.Keys(unknown)) {
		above := secret.Cut(pointer, sensitive)
		if out[above] == "" {
			out[above] = unknown[pointer]
		}
	}
	return out
}

// reasons hides the values of reasons that refer to sensitive places.
func (r *Redactor) reasons(step *plan.Step, secrets []string) []protocol.Reason {
	reasons, places := slices.Clone(step.Answer().Reasons), slices.Concat(step.Sensitive, step.Answer().Hidden)
	for i, one := range reasons {
		one.Have = secret.MaskPart(one.Have, one.Path, r.placesOf(step, one.Path, one.Have, places), secrets)
		one.Want = secret.MaskPart(one.Want, one.Path, r.placesOf(step, one.Path, one.Want, places), secrets)
		one.Message, one.Path = r.Hide(one.Message), secret.Cut(one.Path, places)
		reasons[i] = one
	}
	return reasons
}

// placesOf adds the path of a reason to the sensitive places if the schema of the states marks its value, which no
// document of the step may have.
func (r *Redactor) placesOf(step *plan.Step, path string, value json.RawMessage, places []string) []string {
	doc, _ := secret.Lone(path, value)
	if len(observe.HiddenInState(&r.schemas, step.Init, doc, nil, nil)) > 0 {
		return append(slices.Clip(places), path)
	}
	return places
}

// action hides secrets in what an image put into an action.
func (r *Redactor) action(a protocol.Action) protocol.Action {
	a.Name, a.Description = r.Hide(a.Name), r.Hide(a.Description)
	a.Args = slices.Clone(a.Args)
	for i := range a.Args {
		a.Args[i] = r.Hide(a.Args[i])
	}
	return a
}

// Diagnostics takes the secrets out of messages that quote what images print.
func (r *Redactor) Diagnostics(list diag.Diagnostics) diag.Diagnostics {
	out := make(diag.Diagnostics, len(list))
	for i, d := range list {
		out[i] = d.Hidden(r.Hide)
	}
	return out
}
