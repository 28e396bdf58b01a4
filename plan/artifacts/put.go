package artifacts

import (
	"encoding/json"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
)

// SamePut reports whether two configs of a publish mean the same put. Sensitive values in
// the source are not compared: a new password publishes nothing. sensitive are pointers
// into the configs.
func SamePut(was, now json.RawMessage, sensitive []string) bool {
	var hidden []string
	for _, pointer := range sensitive {
		if pointer == "/source" || strings.HasPrefix(pointer, "/source/") {
			hidden = append(hidden, pointer)
		}
	}
	return jsondoc.Same(secret.Mask(was, hidden), secret.Mask(now, hidden))
}

// FeedsItself returns a warning about a publish that is made of the artifact that it puts:
// each put is a new version, for which the next plan puts another. An artifact that is
// pinned has no new versions.
func FeedsItself(r *config.Resource, pins map[string]Pin) *diag.Diagnostic {
	if r.Publish == nil {
		return nil
	}
	name := r.Publish.Artifact
	if !slices.Contains(r.Artifacts, name) || pins[name].Pinned != "" {
		return nil
	}
	return diag.Warningf("A publish changes its own input", "%s puts a version of artifact.%s, and is made of its newest version: each "+
		"plan would publish again. Refer to what should trigger it instead, or pin the input: version = { ... } in the block artifact %q.",
		r.Address, name, name)
}
