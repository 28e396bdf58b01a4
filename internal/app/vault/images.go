package vault

import (
	"context"
	"errors"

	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// images runs the images of secret blocks by a client.
type images struct{ *typeclient.Client }

// Images returns a Client that runs images.
func Images(c *typeclient.Client) Client { return images{c} }

// CheckConfig implements Client.
func (i images) CheckConfig(ty protocol.Type, config []byte) error {
	for _, v := range i.Client.CheckConfig(ty, config, nil) {
		return errors.New(v.Sentence())
	}
	return nil
}

// ReadSecret implements Client.
func (i images) ReadSecret(ctx context.Context, t typeclient.Target, ty protocol.Type, config []byte) (answers.Secret, error) {
	return i.Client.ReadSecret(ctx, t, ty, config)
}
