package conformance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runner/typeclient"
	"deployster/protocol"
)

const fixSecrets = "Print no secret, also not in error messages, and put none into the state: what an image prints is shown and recorded."

// minSecret is the length, in bytes, below which a value is not looked for: it
// would be found by chance.
const minSecret = 4

// Secrets returns the values of a config that its schema marks writeOnly, as text,
// by their JSON pointers.
func Secrets(found []string, config json.RawMessage) map[string]string {
	out := map[string]string{}
	tree, err := jsondoc.Value(config)
	if err != nil {
		return out
	}
	for _, pointer := range found {
		collect(pointer, at(tree, jsondoc.Pointer(pointer)), out)
	}
	return out
}

func at(tree any, steps []string) any {
	for _, step := range steps {
		switch t := tree.(type) {
		case map[string]any:
			tree = t[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i < 0 || i >= len(t) {
				return nil
			}
			tree = t[i]
		}
	}
	return tree
}

// collect adds the texts and numbers in a value to out.
func collect(pointer string, v any, out map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			collect(pointer+jsondoc.JoinPointer([]string{key}), inner, out)
		}
	case []any:
		for i, inner := range v {
			collect(fmt.Sprintf("%s/%d", pointer, i), inner, out)
		}
	case string:
		out[pointer] = v
	case json.Number:
		out[pointer] = v.String()
	}
}

// printsNoSecret looks for secrets in all that the image has printed in a test.
func printsNoSecret(ty protocol.Type, configs []json.RawMessage, runs []run) outcome {
	secrets := map[string]string{}
	for _, config := range configs {
		if config == nil {
			continue
		}
		for pointer, text := range Secrets(typeclient.WriteOnly(ty, config), config) {
			if len(text) >= minSecret {
				secrets[pointer+"\x00"+text] = text
			}
		}
	}
	if len(secrets) == 0 {
		return skip("the config has no values that the schema marks \"writeOnly\": true")
	}
	for key, text := range secrets {
		pointer, _, _ := bytes.Cut([]byte(key), []byte{0})
		for _, r := range runs {
			for stream, printed := range map[string][]byte{"stdout": r.result.Stdout, "stderr": r.result.Stderr} {
				if containsSecret(printed, text) {
					return fail(fixSecrets, "The value of config%s was printed on %s of %s.", pointer, stream, r.spec.Name)
				}
			}
		}
	}
	return pass("%d runs were looked through", len(runs))
}

// containsSecret reports whether a text has a secret in it, as it is, as JSON writes it or
// as base64.
func containsSecret(printed []byte, secret string) bool {
	quoted, err := jsondoc.Encode(secret)
	if err == nil && bytes.Contains(printed, bytes.Trim(quoted, `"`)) {
		return true
	}
	return bytes.Contains(printed, []byte(secret)) || bytes.Contains(printed, []byte(base64.StdEncoding.EncodeToString([]byte(secret))))
}
