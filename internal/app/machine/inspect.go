package machine

import (
	"context"

	"deployster/internal/app/command"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// Inspect returns the init answer of an image, and its full name.
func Inspect(ctx context.Context, c command.Command, runtime Runtime, image string) (name string, ty protocol.Type, err error) {
	found, err := runtime.Resolve(ctx, image)
	if err != nil {
		return "", ty, err
	}
	client := typeclient.New(typeclient.Options{Runner: runtime, Inspector: runtime, Version: c.Work.Version, Verbose: c.Work.Verbose,
		Workspace: c.Work.Dir, Log: c.Line})
	ty, err = client.Describe(ctx, typeclient.Target{Address: "inspect", Reference: image, Digest: found.Digest})
	return found.Reference, ty, err
}

// ReadOnly reports whether an image requests a read-only root file system.
func ReadOnly(ctx context.Context, runtime Runtime, digest string) (bool, error) {
	labels, err := runtime.Labels(ctx, digest)
	return labels[imagestore.LabelReadOnly] == "true", err
}
