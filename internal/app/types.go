package app

import (
	"context"
	"encoding/json"

	"deployster/internal/base/secret"
	"deployster/internal/runtime/conformance"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

// Inspect returns the init answer of an image, and its full name.
func (e *Engine) Inspect(ctx context.Context, image string) (name string, ty protocol.Type, err error) {
	runtime, err := e.Runtime(ctx)
	if err != nil {
		return "", ty, err
	}
	found, err := runtime.Resolve(ctx, image)
	if err != nil {
		return "", ty, err
	}
	client := typeclient.New(typeclient.Options{Runner: runtime, Inspector: runtime, Version: e.Version, Verbose: e.Verbose, Workspace: e.Dir,
		Log: e.command.Line})
	ty, err = client.Init(ctx, typeclient.Target{Address: "inspect", Reference: image, Digest: found.Digest})
	return found.Reference, ty, err
}

// ReadOnly reports whether an image asks for a read-only root file system.
func (e *Engine) ReadOnly(ctx context.Context, digest string) (bool, error) {
	runtime, err := e.Runtime(ctx)
	if err != nil {
		return false, err
	}
	labels, err := runtime.Labels(ctx, digest)
	return labels[imagestore.LabelReadOnly] == "true", err
}

// Conformance tests whether an image keeps the protocol. It sets those of the options
// that the engine decides. It calls their About once the secrets of the configs are
// known. Without quiet it shows the output of the image.
func (e *Engine) Conformance(ctx context.Context, o conformance.Options, quiet bool) (conformance.Report, error) {
	runtime, err := e.Runtime(ctx)
	if err != nil {
		return conformance.Report{}, err
	}
	o.Runner, o.Launcher, o.Version, o.Workspace, o.Verbose, o.Hide = runtime, runtime, e.Version, e.Dir, e.Verbose, e.Secrets.Hide
	if !quiet {
		o.Log = e.command.Line
	}
	about := o.About
	o.About = func(ty protocol.Type) {
		for _, config := range []json.RawMessage{o.Config, o.Then} {
			e.Secrets.Add(secret.Values(config, new(typeschema.Schemas).WriteOnly(ty.ConfigSchema, config)))
		}
		about(ty)
	}
	return conformance.Run(ctx, o)
}
