package secretread

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// Client runs the images of secret blocks.
type Client struct {
	types *typeclient.Client
	input protocol.InitInput // the beginning of each stdin, without Name and Type
}

// New returns a Client that runs images by another one.
func New(c *typeclient.Client, input protocol.InitInput) Client { return Client{c, input} }

// Describe returns what an image declares.
func (c Client) Describe(ctx context.Context, t typeclient.Target) (protocol.Type, error) {
	return c.types.Describe(ctx, t)
}

// CheckConfig returns an error if the config_schema of an image refuses a config.
func (c Client) CheckConfig(ty protocol.Type, config []byte) error {
	for _, v := range c.types.CheckConfig(ty, config, nil) {
		return errors.New(v.Sentence())
	}
	return nil
}

// ReadSecret has an image print its secret.
func (c Client) ReadSecret(ctx context.Context, t typeclient.Target, ty protocol.Type, config []byte) (s answers.Secret, err error) {
	if ty.Secret == nil {
		return s, diag.Errorf("The image reads no secrets", "The answer of image %s to init lacks \"secret\". Declare it as the type of a "+
			"resource.", diag.Visible(t.Reference))
	}
	stdout, err := c.ask(ctx, t, ty, input{Config: config})
	if err != nil {
		return s, err
	}
	if s, err = answers.ReadSecret(stdout); err != nil {
		return s, typeclient.Failed(t, typeclient.StepSecret, broken(err), "The image broke the protocol",
			"The secret that image %s printed is not valid: %s. It is not shown. docs/secrets.md describes its form.",
			diag.Visible(t.Reference), diag.Visible(err.Error()))
	}
	return s, nil
}

// input is what an image reads.
type input struct {
	protocol.InitInput
	Config  json.RawMessage `json:"config"`
	Lease   json.RawMessage `json:"lease,omitempty"`
	Request string          `json:"request,omitempty"` // what to do with the lease
}

// ask runs an image, and returns what it prints.
func (c Client) ask(ctx context.Context, t typeclient.Target, ty protocol.Type, in input) ([]byte, error) {
	in.InitInput = c.input
	in.Name, in.Type = t.Address, t.Reference
	stdin, err := jsondoc.Encode(in)
	if err != nil {
		return nil, err
	}
	r, err := c.types.Ask(ctx, t, typeclient.Ask{Step: typeclient.StepSecret, Digest: ty.Digest, Command: *ty.Secret,
		Stdin: append(stdin, '\n'), Timeout: cmp.Or(t.StateTimeout, typeclient.SecretTimeout), Says: true, Secret: true})
	return r.Stdout, err
}

// RenewSecret has an image renew what it has opened. The answer has no value.
func (c Client) RenewSecret(ctx context.Context, t typeclient.Target, ty protocol.Type, config, lease []byte) (answers.Secret, error) {
	stdout, err := c.ask(ctx, t, ty, input{Config: config, Lease: lease, Request: "renew"})
	if err != nil {
		return answers.Secret{}, err
	}
	s, err := answers.ReadRenewed(stdout)
	if err != nil {
		return s, typeclient.Failed(t, typeclient.StepSecret, broken(err), "The image broke the protocol",
			"The renewed secret that image %s printed is not valid: %s. It is not shown.", diag.Visible(t.Reference),
			diag.Visible(err.Error()))
	}
	return s, nil
}

// CloseSecret has an image give back what it has opened.
func (c Client) CloseSecret(ctx context.Context, t typeclient.Target, ty protocol.Type, config, lease []byte) error {
	_, err := c.ask(ctx, t, ty, input{Config: config, Lease: lease, Request: "close"})
	return err
}

// broken returns the cause of the error about an answer that is not valid.
func broken(err error) error { return &typeclient.ProtocolError{Message: err.Error()} }
