package typeclient

import (
	"encoding/json"

	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runner/typeschema"
)

// secretsIn returns the values in an answer to the state step that the schema of the
// states marks writeOnly.
func secretsIn(schemas typeschema.Reader, answer []byte, schema json.RawMessage) (secrets []string) {
	members, err := jsondoc.Object(answer)
	if err != nil {
		return nil
	}
	for _, name := range []string{"state", "staleState", "forecast"} {
		secrets = append(secrets, secret.Values(members[name], schemas.WriteOnly(schema, members[name]))...)
	}
	return secrets
}
