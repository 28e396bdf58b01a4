package validation

import (
	"context"
	"encoding/json"
	"fmt"
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

// Check has a type judge a config that is valid: twice, and with each of its values unknown. It returns an error if the type refuses it,
// or answers differently about the same.
func Check(ctx context.Context, c Client, t typeclient.Target, ty protocol.Type, config json.RawMessage) error {
	if ty.ValidateAction == nil {
		return nil
	}
	first, err := accepted(ctx, c, t, ty, config, nil)
	if err != nil {
		return err
	}
	again, err := accepted(ctx, c, t, ty, config, nil)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(first, again) {
		return fmt.Errorf("validate answered a second query about the same config differently")
	}
	object, err := jsondoc.Object(config)
	if err != nil {
		return nil // another check refuses it
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if _, err := accepted(ctx, c, t, ty, config, map[string]string{jsondoc.JoinPointer([]string{key}): key}); err != nil {
			return fmt.Errorf("with %s unknown: %w", key, err)
		}
	}
	return nil
}

// accepted returns what a type finds in a config, without errors.
func accepted(ctx context.Context, c Client, t typeclient.Target, ty protocol.Type, config json.RawMessage,
	unknown map[string]string) ([]protocol.Finding, error) {
	found, err := c.Validate(ctx, t, ty, config, unknown)
	for _, f := range found {
		if err == nil && f.Severity == protocol.FindingError {
			err = fmt.Errorf("validate refuses the config: %s %s", f.Path, f.Message)
		}
	}
	return found, err
}
