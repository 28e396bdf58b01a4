package typeclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// StepDiscover is the step that queries a type for its objects.
const StepDiscover = "discover"

// maxDiscovered is the size limit of one line of the answer, in bytes.
const maxDiscovered = 1 << 20

// Discovered is one object that a type has found: the config of a resource for it, and a
// suggested name.
type Discovered struct {
	Config json.RawMessage
	Name   string // "" = the type suggests no name
}

// Discover queries a type with a discover_action for its objects; nil = none. The
// configs are completed with defaults. The plugs of the type are read-only.
func (c *Client) Discover(ctx context.Context, t Target, ty protocol.Type, defaults json.RawMessage) ([]Discovered, error) {
	k := call{target: t, step: StepDiscover, kind: runner.Query, command: *ty.DiscoverAction, mounts: slices.Clone(t.Mounts),
		settings: t.Settings, timeout: t.StateTimeout}
	if k.timeout == 0 {
		k.timeout = DefaultStateTimeout
	}
	for i := range k.mounts {
		k.mounts[i].Writable = false
	}
	var err error
	if k.stdin, err = encodeDiscover(c.initInput(t), defaults); err != nil {
		return nil, fail(k, err, "Cannot query the image", "%s", diag.Visible(err.Error()))
	}
	if k.digest, err = c.images.digestFor(ctx, t, ty, StepDiscover, *ty.DiscoverAction); err != nil {
		return nil, err
	}
	r, err := c.run(ctx, k)
	if err != nil {
		return nil, err
	}
	list, err := readDiscovered(defaults, r.Stdout, func(config json.RawMessage) []typeschema.Violation {
		return c.CheckConfig(ty, config, nil)
	})
	if err != nil {
		return nil, protocolError(k, c.o.hide(r.Stdout), err)
	}
	return list, nil
}

// readDiscovered parses an answer with one object on each line. A config that lacks a
// value gets it from the defaults.
func readDiscovered(defaults json.RawMessage, answer []byte,
	check func(json.RawMessage) []typeschema.Violation) (list []Discovered, err error) {
	for i, line := range bytes.Split(bytes.TrimSuffix(answer, []byte("\n")), []byte("\n")) {
		if len(answer) == 0 {
			return nil, nil
		}
		if len(line) > maxDiscovered {
			return nil, fmt.Errorf("line %d has more than 1 MiB", i+1)
		}
		f, err := answers.ReadFields(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		one := Discovered{Config: f.Document("config"), Name: f.Text("name")}
		if f.Done(); *f.First != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, *f.First)
		}
		if one.Config == nil {
			return nil, fmt.Errorf("line %d: \"config\" is missing", i+1)
		}
		if one.Config, err = jsondoc.Filled(one.Config, defaults); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if found := check(one.Config); len(found) > 0 {
			return nil, fmt.Errorf("line %d does not match the image's own config_schema: %s", i+1, found[0].Sentence())
		}
		list = append(list, one)
	}
	return list, nil
}
