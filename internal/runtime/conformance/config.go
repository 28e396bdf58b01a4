package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/conformance/report"
	"deployster/internal/runtime/conformance/validation"
)

const fixConfig = "Correct the config, or the image's config_schema if it is too strict."

func (i *image) checkConfig(ctx context.Context) outcome {
	for _, config := range []json.RawMessage{i.o.Config, i.o.Then} {
		if config == nil {
			continue
		}
		if found := i.client("").CheckConfig(i.ty, i.schemas.WithDefaults(i.ty.ConfigSchema, config), nil); len(found) > 0 {
			var lines []string
			for _, v := range found {
				lines = append(lines, v.Sentence())
			}
			return fail(fixConfig, "%s", strings.Join(lines, "\n"))
		}
		switch wrong, err := validation.Check(ctx, i.client(""), i.target, i.ty, config); {
		case err != nil:
			return failWith(validation.Fix, err)
		case wrong != "":
			return fail(validation.Fix, "%s", wrong)
		}
	}
	if len(i.ty.ConfigSchema) == 0 {
		return pass("the image has no config_schema, so any object does")
	}
	return pass("")
}

const fixStrict = "Declare the \"type\" of each property in config_schema, and \"additionalProperties\": false: then deployster shows " +
	"the user the line with the mistake, before the image runs."

// unknownProperty is the name of a property that no image knows.
const unknownProperty = "deployster_no_such_property"

// report.CheckStrict checks that the schema finds typical mistakes of users: a misspelt name,
// and a value of another kind.
func (i *image) checkStrict(context.Context) outcome {
	if len(i.ty.ConfigSchema) == 0 {
		return outcome{verdict: report.Skip, reason: "the image has no config_schema", fix: fixStrict}
	}
	var config map[string]json.RawMessage
	if err := json.Unmarshal(i.o.Config, &config); err != nil {
		return skip("the config is not an object")
	}
	refuses := func(key string, value json.RawMessage) bool {
		changed := maps.Clone(config)
		changed[key] = value
		raw, err := jsondoc.Encode(changed)
		return err == nil && len(i.client("").CheckConfig(i.ty, raw, nil)) > 0
	}
	var loose []string
	if !refuses(unknownProperty, json.RawMessage(`"x"`)) {
		loose = append(loose, "a property that it does not know")
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		wrong := json.RawMessage(`{"` + unknownProperty + `":[]}`)
		if jsondoc.KindOf(config[key]) == "an object" {
			wrong = json.RawMessage("[[]]")
		}
		if !refuses(key, wrong) {
			loose = append(loose, fmt.Sprintf("%q of another kind", key))
		}
	}
	if len(loose) > 0 {
		return outcome{verdict: report.Skip, reason: "the schema is open; it accepts " + strings.Join(loose, ", "), fix: fixStrict}
	}
	return pass("")
}
