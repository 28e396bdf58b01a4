package plan

import (
	"encoding/json"
	"slices"

	"deployster/config"
	"deployster/internal/base/secret"
	"deployster/internal/runner/typeclient"
	"deployster/protocol"
	"deployster/state"
)

// Sensitive says which parts of a config must never be shown: what the manifest
// marks, and what the image's schema does.
func Sensitive(ty protocol.Type, r config.Resolved) []string {
	all := slices.Concat(r.Sensitive, typeclient.WriteOnly(ty, r.Value))
	slices.Sort(all)
	return slices.Compact(all)
}

// SensitivePointers says which parts of a state must be hidden: where secrets
// come back, and what stands where the config holds something sensitive, as a
// state often mirrors its config and may hold another secret there.
func SensitivePointers(value json.RawMessage, secrets, configPointers []string) []string {
	found := append(secret.Find(value, secrets), secret.Below(value, configPointers)...)
	slices.Sort(found)
	return slices.Compact(found)
}

// EntrySecrets gives the secrets that a state file's entry holds.
func EntrySecrets(e state.Entry) []string {
	secrets := append(secret.Values(e.Config, e.Sensitive.Config), secret.Values(e.State, e.Sensitive.State)...)
	if e.LastSeen != nil {
		secrets = append(secrets, secret.Values(e.LastSeen.State, e.LastSeen.Sensitive)...)
	}
	return secrets
}
