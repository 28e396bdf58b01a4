package observe

import (
	"encoding/json"
	"slices"
	"strings"

	"deployster/config"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
	"deployster/state"
)

// HiddenInConfig lists the places of a config that must never be shown: those that the manifest
// marks, and those that the schema of its type marks.
func HiddenInConfig(schemas typeschema.Reader, ty protocol.Type, r config.Resolved) []string {
	return outermost(sorted(r.Sensitive, schemas.WriteOnly(ty.ConfigSchema, r.Value)))
}

// HiddenInState lists the places of a state that must be hidden: those that the schema of its type
// marks, those where the config has a sensitive value, as a state often mirrors its config and
// may have another secret there, and those with secrets, also in keys: a type that generates a
// password may also return an address with the password in it.
func HiddenInState(schemas typeschema.Reader, ty protocol.Type, value json.RawMessage, secrets, inConfig []string,
	known ...*secret.Hider) []string {
	marked := slices.Concat(schemas.WriteOnly(ty.StateSchema, value), secret.Below(value, inConfig))
	if all := slices.Concat(secrets, secret.Values(value, marked)); len(all) > 0 {
		known = append(known, secret.NewHider(all))
	}
	return outermost(sorted(marked, secret.FindWith(value, known...)))
}

// Edits lists the places in which two configs differ. A value that is sensitive in one of
// them is listed as a whole: the keys below it may contain secrets.
func Edits(old, now json.RawMessage, sensitive ...[]string) []jsondoc.Edit {
	list := jsondoc.Edits(old, now)
	for i, e := range list {
		if above := secret.Cut(e.Path, slices.Concat(sensitive...)); above != e.Path {
			list[i] = jsondoc.Edit{Path: above, How: jsondoc.Changed}
		}
	}
	slices.SortFunc(list, func(a, b jsondoc.Edit) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(list)
}

func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// outermost leaves out the pointers into what another of the sorted pointers leads to: keys
// on the way may contain secrets.
func outermost(list []string) []string {
	return secret.CutAll(list, list)
}

// SecretsOf lists the secrets that an entry of the state holds.
func SecretsOf(e state.Entry) []string {
	secrets := append(secret.Values(e.Config, e.Sensitive.Config), secret.Values(e.State, e.Sensitive.State)...)
	if e.LastSeen != nil {
		secrets = append(secrets, secret.Values(e.LastSeen.State, e.LastSeen.Sensitive)...)
	}
	return secrets
}

// HiddenInEnv returns the names of the variables in an environment that must not be shown.
func HiddenInEnv(m *config.Manifest, env map[string]string) []string {
	return secret.FindEnv(env, config.Hider(m))
}
