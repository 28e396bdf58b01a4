package typeclient

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/answers"
	"deployster/protocol"
)

// StepValidate is the step in which a type judges a config.
const StepValidate = "validate"

// Validate has a type judge a config, if it does so; nil = it finds nothing wrong. The keys of unknown are the places of values that
// are not known yet: there the config has placeholders. Its container gets no network and no files of the host, and changes nothing.
func (c *Client) Validate(ctx context.Context, t Target, ty protocol.Type, config json.RawMessage,
	unknown map[string]string) ([]protocol.Finding, error) {
	if ty.ValidateAction == nil {
		return nil, nil
	}
	s := t.Settings.Confined()
	s.Network = runner.NoNetwork
	k := call{target: t, step: StepValidate, kind: runner.Query, command: *ty.ValidateAction, settings: s,
		timeout: cmp.Or(t.StateTimeout, DefaultStateTimeout)}
	in := protocol.ValidateInput{InitInput: c.initInput(t), Config: orEmpty(c.WithDefaults(ty.ConfigSchema, config)),
		Unknown: slices.AppendSeq([]string{}, maps.Keys(unknown))}
	slices.Sort(in.Unknown)
	var err error
	in.Config = jsondoc.Blanked(in.Config, in.Unknown)
	if k.stdin, err = encode(in); err != nil {
		return nil, fail(k, err, "Cannot query the image", "%s", diag.Visible(err.Error()))
	}
	if k.digest, err = c.images.digestFor(ctx, t, ty, StepValidate, *ty.ValidateAction); err != nil {
		return nil, err
	}
	r, err := c.run(ctx, k)
	if err != nil {
		return nil, err
	}
	list, err := answers.ReadFindings(r.Stdout)
	if err != nil {
		return nil, protocolError(k, c.o.hide(r.Stdout), err)
	}
	if c.o.Hide != nil {
		for i := range list {
			list[i].Message, list[i].Path = c.o.Hide(list[i].Message), secret.HidePath(list[i].Path, c.o.Hide)
		}
	}
	return list, nil
}
