package content

import (
	"maps"
	"slices"
	"strings"
	"time"

	"deployster/internal/base/secret"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
)

// Pin has everything that is needed to fetch the files of one version of an artifact again.
type Pin struct {
	Name      string          `json:"name"` // of the artifact
	Type      string          `json:"type"` // the image, as the manifest names it
	Recipe    artifact.Recipe `json:"recipe"`
	Settings  runner.Settings `json:"settings,omitzero"`
	Sensitive PinSensitive    `json:"sensitive,omitzero"`
}

// PinSensitive lists the parts of a pin that are never shown, as JSON pointers.
type PinSensitive struct {
	Source []string `json:"source,omitempty"`
	Params []string `json:"params,omitempty"`
	Env    []string `json:"env,omitempty"` // names in Settings.Env
}

// Any reports whether the pin has any sensitive part.
func (s PinSensitive) Any() bool { return len(s.Source)+len(s.Params)+len(s.Env) > 0 }

// Artifact is the version of an artifact that the last successful apply used.
type Artifact struct {
	Pin
	Metadata artifact.Metadata `json:"metadata,omitempty"`
	// Heads are the newest versions of all spaces. The next check starts from them.
	Heads map[string]artifact.Version `json:"heads,omitempty"`
	At    time.Time                   `json:"at"`
}

// Masked returns a copy of the pin with its sensitive values replaced.
func (p Pin) Masked() Pin {
	p.Recipe.Source = secret.Mask(p.Recipe.Source, p.Sensitive.Source)
	p.Recipe.Params = secret.Mask(p.Recipe.Params, p.Sensitive.Params)
	for _, env := range []*map[string]string{&p.Recipe.Env, &p.Settings.Env} {
		if *env = maps.Clone(*env); len(p.Sensitive.Env) == 0 {
			continue
		}
		for _, name := range p.Sensitive.Env {
			if _, ok := (*env)[name]; ok {
				(*env)[name] = secret.Masked
			}
		}
	}
	return p
}

// Secrets returns the sensitive values of the pin, which must never be shown.
func (p Pin) Secrets() []string {
	out := append(secret.Values(p.Recipe.Source, p.Sensitive.Source), secret.Values(p.Recipe.Params, p.Sensitive.Params)...)
	for _, name := range p.Sensitive.Env {
		out = append(out, p.Settings.Env[name])
	}
	return out
}

// maskArtifacts replaces the sensitive values of artifacts, pins and puts. The key of a
// pin is derived from its secrets too, so it is also replaced if the pin has any.
func (s *Snapshot) maskArtifacts() {
	hidden := map[string]string{}
	for name, a := range s.Artifacts {
		a.Pin = a.Pin.Masked()
		s.Artifacts[name] = a
	}
	pins := map[string]Pin{}
	for key, p := range s.Pins {
		shown := key
		if p.Sensitive.Any() {
			shown = secret.Masked + " " + p.Name + " " + p.Recipe.Version.String()
			hidden[key] = shown
		}
		pins[shown] = p.Masked()
	}
	if s.Pins != nil {
		s.Pins = pins
	}
	for addr, e := range s.Resources {
		for i, m := range e.Mounts {
			if key, sub, ok := artifact.ParseMount(m.Source); ok && hidden[key] != "" {
				e.Mounts = slices.Clone(e.Mounts)
				e.Mounts[i].Source = strings.TrimSuffix(artifact.MountSource(hidden[key], sub), "/")
			}
		}
		s.Resources[addr] = e
	}
	for addr, u := range s.Unsettled {
		s.Unsettled[addr] = u.Masked()
	}
}

// NeededPins returns the pins that the mounts of any entry refer to.
func (s *Snapshot) NeededPins(pins map[string]Pin) map[string]Pin {
	out := map[string]Pin{}
	keep := func(e Entry) {
		for _, m := range e.Mounts {
			if key, _, ok := artifact.ParseMount(m.Source); ok {
				if p, known := pins[key]; known {
					out[key] = p
				}
			}
		}
	}
	for _, e := range s.Resources {
		keep(e)
		for _, d := range e.Deposed {
			keep(d.Entry)
		}
	}
	return out
}
