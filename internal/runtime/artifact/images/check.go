package images

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
)

// checkV2 is the input of a check of artifacts-2.
type checkV2 struct {
	Config       json.RawMessage             `json:"config"`
	From         map[string]artifact.Version `json:"from"`
	ResponsePath string                      `json:"response_path"`
}

// Check implements artifact.Client.
func (c *Client) Check(ctx context.Context, t artifact.Target, i artifact.Info, in artifact.CheckInput) (artifact.Checked, error) {
	source, err := object(in.Source)
	if err != nil {
		return artifact.Checked{}, err
	}
	in.Source = source
	f := c.checkV2
	if i.Protocol == artifact.Concourse1 {
		f = c.checkV1
	}
	if in.Each != nil || in.Fresh {
		return f(ctx, t, i, in)
	}
	key, err := json.Marshal([]any{i.Digest, i.Check, t.Settings, source, in.From, in.Space, in.Keep})
	if err != nil {
		return artifact.Checked{}, err
	}
	return ask(ctx, &c.mu, c.checks, string(key), func() (artifact.Checked, error) { return f(ctx, t, i, in) })
}

func checkAsk(t artifact.Target, i artifact.Info) typeclient.Ask {
	return typeclient.Ask{Step: artifact.StepCheck, Digest: i.Digest, Command: i.Check,
		Timeout: orElse(t.CheckTimeout, artifact.DefaultCheckTimeout)}
}

func (c *Client) checkV2(ctx context.Context, t artifact.Target, i artifact.Info, in artifact.CheckInput) (artifact.Checked, error) {
	from := in.From
	if from == nil {
		from = map[string]artifact.Version{}
	}
	a := checkAsk(t, i)
	var err error
	if a.Stdin, err = encode(checkV2{in.Source, from, responsePath}); err != nil {
		return artifact.Checked{}, err
	}
	l := newListed(in)
	var wrong error
	a.Answer = &runner.Answer{Target: responsePath, Max: maxCheckAnswer, Read: func(r io.Reader) error {
		wrong = eachLine(r, l.checkLine)
		return nil
	}}
	if _, err := c.o.Types.Ask(ctx, target(t), a); err != nil {
		return artifact.Checked{}, classed(err)
	}
	if wrong != nil {
		return artifact.Checked{}, classed(c.o.Types.Broken(target(t), a, nil, wrong))
	}
	return l.checked(), nil
}

// checkV1 checks with a v1 image. If it lists no version from the given one it is queried
// once more from the start: git-resource lists none when the history was rewritten.
func (c *Client) checkV1(ctx context.Context, t artifact.Target, i artifact.Info, in artifact.CheckInput) (artifact.Checked, error) {
	out, err := c.askV1(ctx, t, i, in, in.From[""])
	if err == nil && len(out.Spaces) == 0 && in.From[""] != nil {
		out, err = c.askV1(ctx, t, i, in, nil)
	}
	out.Silent = err == nil && len(out.Spaces) == 0
	return out, err
}

func (c *Client) askV1(ctx context.Context, t artifact.Target, i artifact.Info, in artifact.CheckInput,
	from artifact.Version) (artifact.Checked, error) {
	if in.Space != "" {
		return artifact.Checked{}, typeclient.Failed(target(t), artifact.StepCheck, errors.ErrUnsupported, "The image has no spaces",
			"Image %s uses concourse-1, which has no spaces. Remove space.", diag.Visible(t.Reference))
	}
	a := checkAsk(t, i)
	a.Says = true
	var err error
	if a.Stdin, err = encode(checkV1{in.Source, from}); err != nil {
		return artifact.Checked{}, err
	}
	r, err := c.o.Types.Ask(ctx, target(t), a)
	if err != nil {
		return artifact.Checked{}, classed(err)
	}
	l := newListed(in)
	l.strict = false
	if err := l.readVersions(r.Stdout); err != nil {
		return artifact.Checked{}, classed(c.o.Types.Broken(target(t), a, r.Stdout, err))
	}
	return l.checked(), nil
}
