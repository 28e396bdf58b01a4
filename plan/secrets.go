package plan

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"deployster/config"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runner/typeclient"
	"deployster/protocol"
	"deployster/state"
)

// minEmbedded is the length, in bytes, from which on a secret is also looked
// for inside longer strings: shorter ones would be found everywhere.
const minEmbedded = 4

// Sensitive says which parts of a config must never be shown: what the manifest
// marks, and what the image's schema does.
func Sensitive(ty protocol.Type, r config.Resolved) []string {
	all := slices.Concat(r.Sensitive, typeclient.WriteOnly(ty, r.Value))
	slices.Sort(all)
	return slices.Compact(all)
}

// Secrets gives the text of every value that stands at or below the pointers:
// strings as they are, numbers as they are written. Booleans and null are no
// secrets that could be recognised again.
func Secrets(value json.RawMessage, pointers []string) []string {
	if len(pointers) == 0 {
		return nil
	}
	tree, err := jsondoc.Value(value)
	if err != nil {
		return nil
	}
	var secrets []string
	walk(tree, nil, func(path []string, leaf any) {
		text, ok := leafText(leaf)
		if ok && slices.ContainsFunc(pointers, func(p string) bool { return covers(p, path) }) {
			secrets = append(secrets, text)
		}
	})
	slices.Sort(secrets)
	return slices.Compact(secrets)
}

// SecretPointers finds where secrets come back in a value, such as a password
// that an image repeats in its state.
func SecretPointers(value json.RawMessage, secrets []string) []string {
	if len(secrets) == 0 || len(value) == 0 {
		return nil
	}
	tree, err := jsondoc.Value(value)
	if err != nil {
		return nil
	}
	var pointers []string
	walk(tree, nil, func(path []string, leaf any) {
		text, ok := leafText(leaf)
		if ok && slices.ContainsFunc(secrets, func(s string) bool { return holds(text, s) }) {
			pointers = append(pointers, jsondoc.JoinPointer(path))
		}
	})
	slices.Sort(pointers)
	return pointers
}

// SecretEnv names the environment variables whose values hold a secret, sorted.
func SecretEnv(env map[string]string, secrets []string) []string {
	var names []string
	for name, value := range env {
		if slices.ContainsFunc(secrets, func(s string) bool { return holds(value, s) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// holds reports whether a secret comes back in a text.
func holds(text, secret string) bool {
	return text == secret || len(secret) >= minEmbedded && strings.Contains(text, secret)
}

// SensitivePointers says which parts of a state must be hidden: where secrets
// come back, and what stands where the config holds something sensitive, as a
// state often mirrors its config and may hold another secret there.
func SensitivePointers(value json.RawMessage, secrets, configPointers []string) []string {
	found := SecretPointers(value, secrets)
	if len(value) == 0 || len(configPointers) == 0 {
		return found
	}
	tree, err := jsondoc.Value(value)
	if err != nil {
		return found
	}
	walk(tree, nil, func(path []string, _ any) {
		if slices.ContainsFunc(configPointers, func(p string) bool { return covers(p, path) }) {
			found = append(found, jsondoc.JoinPointer(path))
		}
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// EntrySecrets gives the secrets that a state file's entry holds.
func EntrySecrets(e state.Entry) []string {
	secrets := append(Secrets(e.Config, e.Sensitive.Config), Secrets(e.State, e.Sensitive.State)...)
	if e.LastSeen != nil {
		secrets = append(secrets, Secrets(e.LastSeen.State, e.LastSeen.Sensitive)...)
	}
	return secrets
}

// walk visits the leaves of a JSON value.
func walk(v any, path []string, visit func(path []string, leaf any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			walk(inner, append(slices.Clip(path), key), visit)
		}
	case []any:
		for i, inner := range v {
			walk(inner, append(slices.Clip(path), strconv.Itoa(i)), visit)
		}
	default:
		visit(path, v)
	}
}

func leafText(leaf any) (string, bool) {
	switch leaf := leaf.(type) {
	case string:
		return leaf, leaf != ""
	case json.Number:
		return leaf.String(), true
	}
	return "", false
}

// covers reports whether a JSON pointer is the path or stands above it.
func covers(pointer string, path []string) bool {
	steps := jsondoc.Pointer(pointer)
	return len(steps) <= len(path) && slices.Equal(steps, path[:len(steps)])
}
