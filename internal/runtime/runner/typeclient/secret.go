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

// StepSecret is the step in which an image prints a secret.
const StepSecret = "secret"

// SecretTimeout is how long an image may take to print a secret, unless its Target allows more or less.
const SecretTimeout = time.Minute

// ReadSecret has an image print a secret. Nothing that it prints is shown or recorded, but for its log if it fails.
func (c *Client) ReadSecret(ctx context.Context, t Target, ty protocol.Type, config json.RawMessage) (s answers.Secret, err error) {
	if ty.Secret == nil {
		return s, diag.Errorf("The image reads no secrets", "The answer of image %s to init lacks \"secret\". Declare it as the type of a "+
			"resource.", diag.Visible(t.Reference))
	}
	k := call{target: t, step: StepSecret, kind: runner.Query, command: *ty.Secret, settings: t.Settings.Confined(), digest: ty.Digest,
		timeout: cmp.Or(t.StateTimeout, SecretTimeout), secret: true}
	if k.stdin, err = encode(struct {
		protocol.InitInput
		Config json.RawMessage `json:"config"`
	}{c.initInput(t), orEmpty(config)}); err != nil {
		return s, fail(k, err, "Cannot query the image", "%s", diag.Visible(err.Error()))
	}
	r, err := c.run(ctx, k)
	if err != nil {
		return s, err
	}
	if s, err = answers.ReadSecret(r.Stdout); err != nil {
		return s, fail(k, &ProtocolError{Message: diag.Visible(err.Error())}, "The image broke the protocol", "What image %s printed as a "+
			"secret is not valid: %s. It is not shown. docs/protocol.md describes it.", diag.Visible(t.Reference), diag.Visible(err.Error()))
	}
	return s, nil
}

// learnSecret has a secret hidden from now on in all that is shown and recorded.
func (c *Client) learnSecret(stdout []byte) {
	if s, err := answers.ReadSecret(stdout); err == nil && c.o.Secret != nil {
		c.o.Secret([]string{s.Value})
	}
}
