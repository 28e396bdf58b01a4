package secretgrant

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/base/secretref"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/answers"
	"deployster/protocol"
)

// Value is the value of a secret block.
type Value struct {
	answers.Secret
	Compared bool // a changed value is a change
}

// Grant has the values that one invocation gets, by the names of their secrets. The zero value has none.
type Grant struct {
	Values map[string]Value
	Gone   map[string]bool // named, and no longer declared
	hider  *secret.Hider   // of the values; nil = there are none
}

// errUndeclared reports that a secret is no longer declared.
var errUndeclared = errors.New("not declared")

func (g Grant) value(name string) (string, error) {
	if v, known := g.Values[name]; known {
		return v.Value, nil
	}
	return "", errUndeclared
}

// Any reports whether an invocation gets a value.
func (g Grant) Any() bool { return len(g.Values) > 0 }

// holds reports whether a document has one of the values, in one of the forms of a secret.
func (g Grant) holds(document json.RawMessage) bool {
	return g.hider != nil && len(document) > 0 && (len(secret.FindWith(document, g.hider)) > 0)
}

// Filled returns an input with the values of its secrets, in its config and in those of its dependencies. What a secret
// that is no longer declared was used for is left out.
func (g Grant) Filled(in protocol.StateInput) (protocol.StateInput, error) {
	var err error
	if in.Config, err = g.document(in.Config); err != nil {
		return in, err
	}
	in.Dependencies, err = g.dependencies(in.Dependencies)
	return in, err
}

func (g Grant) dependencies(deps map[string]protocol.Dependency) (map[string]protocol.Dependency, error) {
	var err error
	deps = maps.Clone(deps)
	for alias, d := range deps {
		if d.Config, err = g.document(d.Config); err != nil {
			return nil, err
		}
		if d.Dependencies, err = g.dependencies(d.Dependencies); err != nil {
			return nil, err
		}
		deps[alias] = d
	}
	return deps, nil
}

// document fills one document.
func (g Grant) document(document json.RawMessage) (json.RawMessage, error) {
	if len(g.Gone) > 0 {
		document = secretref.Without(document, g.Gone)
	}
	return secretref.FillJSON(document, g.value)
}

// ConfigsOf returns the configs in an input that may name secrets.
func ConfigsOf(in protocol.StateInput) []json.RawMessage {
	return append([]json.RawMessage{in.Config}, configsBelow(in.Dependencies)...)
}

func configsBelow(deps map[string]protocol.Dependency) (list []json.RawMessage) {
	for _, d := range deps {
		list = append(append(list, d.Config), configsBelow(d.Dependencies)...)
	}
	return list
}

// rotated returns the secrets whose values are not the applied ones, sorted, and where the config has them.
func (g Grant) rotated(applied protocol.Fingerprints, config json.RawMessage) (names, pointers []string) {
	for name, v := range g.Values {
		if v.Compared && !secretref.Matches(applied[name], v.Value, v.Version) {
			names = append(names, "secret."+name)
		}
	}
	slices.Sort(names)
	at, named := secretref.Places(config)
	for _, pointer := range at {
		if slices.ContainsFunc(named[pointer], func(name string) bool { return slices.Contains(names, "secret."+name) }) {
			pointers = append(pointers, pointer)
		}
	}
	return names, pointers
}

// Fingerprints returns what is recorded of the values once actions with them have ended well.
func (g Grant) Fingerprints() protocol.Fingerprints {
	out := protocol.Fingerprints{}
	for name, v := range g.Values {
		if v.Compared {
			out[name] = secretref.Fingerprint(v.Value, v.Version)
		}
	}
	return out
}

// Tells puts into an input that secrets have other values than those that were applied, and reports which.
func (g Grant) Tells(ty protocol.Type, in *protocol.StateInput) (names []string) {
	if in.Applied == nil || in.Intent != protocol.Present || !g.Any() {
		return nil
	}
	names, pointers := g.rotated(*in.Applied, in.Config)
	if len(names) == 0 || !ty.Refresh || in.LastState == nil {
		return names // without a recorded object it is notified only if there is one
	}
	in.Refresh = true
	in.Changed = append(slices.Clone(in.Changed), pointers...)
	slices.Sort(in.Changed)
	in.Changed = slices.Compact(in.Changed)
	return names
}

// Refuse returns an error if an answer has one of the values: it would be recorded. Reasons are masked instead.
func (g Grant) Refuse(stdout []byte) error {
	members, err := jsondoc.Object(stdout)
	if err != nil || !g.Any() {
		return nil // it is refused for another reason
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name != "reasons" && g.holds(members[name]) {
			return fmt.Errorf("%q has the value of a secret, and what an image answers is recorded: it must leave the value out", name)
		}
	}
	return nil
}

// Mask hides the values in the reasons of an answer.
func (g Grant) Mask(a *protocol.Answer) {
	if !g.Any() {
		return
	}
	for i := range a.Reasons {
		r := &a.Reasons[i]
		if g.holds(r.Have) {
			r.Have = nil
		}
		if g.holds(r.Want) {
			r.Want = nil
		}
		r.Message = g.hider.Hide(r.Message)
	}
}

// Into puts the values into a spec, which then runs alone, and keeps nothing on a disk.
func (g Grant) Into(s *runner.Spec) error {
	if s.Confidential || !g.Any() && len(g.Gone) == 0 {
		return nil
	}
	s.Confidential, s.Worker, s.Reuse, s.ReuseActions, s.Keep, s.Batch = g.Any(), nil, false, false, false, nil
	for _, name := range slices.Sorted(maps.Keys(g.Values)) {
		s.Secrets = append(s.Secrets, g.Values[name].Value)
	}
	env, hidden := map[string]string{}, map[string]string{}
	for name, text := range s.Settings.Env {
		switch filled, err := secretref.Fill(text, g.value); {
		case errors.Is(err, errUndeclared):
		case err != nil:
			return err
		case filled != text:
			hidden[name] = filled
		default:
			env[name] = text
		}
	}
	if s.Settings.Env = env; len(hidden) > 0 {
		s.SecretEnv = hidden
	}
	s.Mounts = slices.Clone(s.Mounts)
	for i, m := range s.Mounts {
		filled, err := secretref.Fill(m.Content, g.value)
		if errors.Is(err, errUndeclared) {
			return diag.Errorf("A secret is not declared any more", "The plug at %s has the value of a secret block that no manifest "+
				"declares any more. Declare the block again until the resource is removed.", m.Target)
		}
		s.Mounts[i].Content = filled
	}
	return nil
}

// Of returns a grant of values, by the names of their secrets. gone are named and no longer declared.
func Of(values map[string]Value, gone map[string]bool) Grant {
	g := Grant{Values: values, Gone: gone}
	var list []string
	for _, v := range values {
		list = append(list, v.Value)
	}
	if len(list) > 0 {
		g.hider = secret.NewHider(list)
	}
	return g
}

// Names returns the secrets that the texts of an invocation name, sorted: in its configs, its environment and the files of
// its plugs.
func Names(env map[string]string, mounts []runner.Mount, configs ...json.RawMessage) []string {
	names := secretref.All(configs...)
	for _, text := range env {
		names = append(names, secretref.Names(text)...)
	}
	for _, m := range mounts {
		names = append(names, secretref.Names(m.Content)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Needed reports whether a text of the invocation names a secret.
func (g Grant) Needed() bool { return len(g.Values)+len(g.Gone) > 0 }
