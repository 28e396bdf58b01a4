package conformance

import (
	"encoding/json"

	"deployster/internal/base/secret"
	"deployster/internal/runtime/conformance/recording"
)

const fixSecrets = "Print no secret, also not in error messages, and put none into the state: what an image prints is shown and recorded."

// printsNoSecret searches all output of the image in a test for secrets of the configs.
func printsNoSecret(i *image, configs []json.RawMessage, runs []recording.Run) outcome {
	secrets := map[string]string{} // secret -> its JSON pointer in the config
	for _, config := range configs {
		if config == nil {
			continue
		}
		for _, pointer := range i.schemas.WriteOnly(i.ty.ConfigSchema, config) {
			for _, text := range secret.Values(config, []string{pointer}) {
				if len(text) >= secret.MinEmbedded {
					secrets[text] = pointer
				}
			}
		}
	}
	if len(secrets) == 0 {
		return skip("the config has no values that the schema marks \"writeOnly\": true")
	}
	for text, pointer := range secrets {
		hider := secret.NewHider([]string{text})
		for _, r := range runs {
			for stream, printed := range map[string][]byte{"stdout": r.Result.Stdout, "stderr": r.Result.Stderr} {
				if hider.Hide(string(printed)) != string(printed) {
					return fail(fixSecrets, "The value of config%s was printed on %s of %s.", pointer, stream, r.Spec.Name)
				}
			}
		}
	}
	return pass("%d runs were searched", len(runs))
}
