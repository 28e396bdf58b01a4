package types

import (
	"context"
	"encoding/json"

	"deployster/internal/app/command"
	"deployster/internal/app/machine"
	"deployster/internal/base/secret"
	"deployster/internal/runtime/conformance"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// Inspect returns the init answer of an image, and its full name.
func Inspect(ctx context.Context, c command.Command, on machine.Runtime, image string) (name string, ty protocol.Type, err error) {
	found, err := on.Resolve(ctx, image)
	if err != nil {
		return "", ty, err
	}
	client := typeclient.New(typeclient.Options{Runner: on, Inspector: on, Version: c.Work.Version, Verbose: c.Work.Verbose,
		Workspace: c.Work.Dir, Log: c.Line})
	ty, err = client.Init(ctx, typeclient.Target{Address: "inspect", Reference: image, Digest: found.Digest})
	return found.Reference, ty, err
}

// ReadOnly reports whether an image asks for a read-only root file system.
func ReadOnly(ctx context.Context, on machine.Runtime, digest string) (bool, error) {
	labels, err := on.Labels(ctx, digest)
	return labels[imagestore.LabelReadOnly] == "true", err
}

// Conformance tests whether an image keeps the protocol. It sets those of the options
// that the command decides. It calls their About once the secrets of the configs are
// known. Without quiet it shows the output of the image.
func Conformance(ctx context.Context, c command.Command, on machine.Runtime, o conformance.Options,
	quiet bool) (conformance.Report, error) {
	w := c.Work
	o.Runner, o.Launcher, o.Version, o.Workspace, o.Verbose, o.Hide = on, on, w.Version, w.Dir, w.Verbose, w.Secrets.Hide
	if !quiet {
		o.Log = c.Line
	}
	about := o.About
	o.About = func(ty protocol.Type) {
		for _, config := range []json.RawMessage{o.Config, o.Then} {
			w.Secrets.Add(secret.Values(config, new(typeschema.Schemas).WriteOnly(ty.ConfigSchema, config)))
		}
		about(ty)
	}
	return conformance.Run(ctx, o)
}
