package typeclient

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/answers"
	"deployster/protocol"
)

// StepPolicy is the step in which an image judges a plan.
const StepPolicy = "policy"

// PolicyTimeout is how long an image may take to judge a plan; a Target may allow less.
const PolicyTimeout = 30 * time.Second

// Judge has an image judge a plan. Its container gets no network, no files and no environment: what it reads is
// its config and the plan.
func (c *Client) Judge(ctx context.Context, t Target, ty protocol.Type, config, plan json.RawMessage) ([]answers.PolicyResult, error) {
	if ty.Policy == nil {
		return nil, diag.Errorf("The image is not a policy", "Image %s manages objects and judges no plans: its answer to init lacks "+
			"\"policy\". Declare it as the type of a resource.", diag.Visible(t.Reference))
	}
	s := t.Settings.Confined()
	s.Network, s.Env, s.Workdir, s.Host = runner.NoNetwork, nil, "", nil
	k := call{target: t, step: StepPolicy, kind: runner.Query, command: *ty.Policy, settings: s, digest: ty.Digest,
		timeout: min(cmp.Or(t.StateTimeout, PolicyTimeout), PolicyTimeout)}
	var err error
	if k.stdin, err = encode(struct {
		protocol.InitInput
		Config json.RawMessage `json:"config"`
		Plan   json.RawMessage `json:"plan"`
	}{c.initInput(t), orEmpty(config), plan}); err != nil {
		return nil, fail(k, err, "Cannot query the image", "%s", diag.Visible(err.Error()))
	}
	r, err := c.run(ctx, k)
	if err != nil {
		return nil, err
	}
	list, err := answers.ReadPolicy(r.Stdout)
	if err != nil {
		return nil, protocolError(k, c.o.hide(r.Stdout), err)
	}
	if c.o.Hide != nil {
		for i := range list {
			list[i].Message, list[i].Path = c.o.Hide(list[i].Message), c.o.Hide(list[i].Path)
		}
	}
	return list, nil
}
