package validation

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// Fix is what an author has to do about an error of Check.
const Fix = "Read one JSON object from stdin, with the \"config\", and print {\"diagnostics\": [...]}, each with a severity, a path and " +
	"a message: errors only about what no object could have, without network, and the same for the same config. Values that are listed " +
	"in \"unknown\" are left out: judge the others."

// Client has a type judge a config. *typeclient.Client is one.
type Client interface {
	Validate(ctx context.Context, t typeclient.Target, ty protocol.Type, config json.RawMessage,
		unknown map[string]string) ([]protocol.Finding, error)
}

// Check has a type judge a config that is valid: twice, and with each of its values unknown. It returns what is wrong if the type
// refuses it, or answers differently about the same; the error is that of a query.
func Check(ctx context.Context, c Client, t typeclient.Target, ty protocol.Type, config json.RawMessage) (wrong string, err error) {
	if ty.ValidateAction == nil {
		return "", nil
	}
	first, wrong, err := judge(ctx, c, t, ty, config, nil)
	if wrong != "" || err != nil {
		return wrong, err
	}
	again, wrong, err := judge(ctx, c, t, ty, config, nil)
	if wrong != "" || err != nil {
		return wrong, err
	}
	if !reflect.DeepEqual(first, again) {
		return "validate answered a second query about the same config differently", nil
	}
	object, err := jsondoc.Object(config)
	if err != nil {
		return "", nil // another check refuses it
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		_, wrong, err := judge(ctx, c, t, ty, config, map[string]string{jsondoc.JoinPointer([]string{key}): key})
		if err != nil {
			return "", err
		}
		if wrong != "" {
			return "with " + key + " unknown: " + wrong, nil
		}
	}
	return "", nil
}

// judge returns what a type finds in a config, and what it refuses.
func judge(ctx context.Context, c Client, t typeclient.Target, ty protocol.Type, config json.RawMessage,
	unknown map[string]string) (found []protocol.Finding, wrong string, err error) {
	if found, err = c.Validate(ctx, t, ty, config, unknown); err != nil {
		return nil, "", err
	}
	for _, f := range found {
		if f.Severity == protocol.FindingError {
			return found, "validate refuses the config: " + f.Path + " " + f.Message, nil
		}
	}
	return found, "", nil
}
