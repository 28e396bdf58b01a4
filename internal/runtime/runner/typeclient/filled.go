package typeclient

import (
	"context"
	"encoding/json"
	"errors"

	"deployster/internal/runtime/runner/secretgrant"
)

// Secrets reads the values of secret blocks. It is called from many goroutines.
type Secrets interface {
	// Of returns the value of a secret for a resource: the same from the query of a step to its verification.
	// begins reports that the step begins: a value that has expired is read again. declared is false if no block has
	// that name.
	Of(ctx context.Context, address, name string, begins bool) (value secretgrant.Value, declared bool, err error)
}

// grant reads the secrets that the texts of a call name, for the configs that it gets.
func (o Options) grant(ctx context.Context, k call, begins bool, configs ...json.RawMessage) (g secretgrant.Grant, err error) {
	names := secretgrant.Names(k.settings.Env, k.mounts, configs...)
	if len(names) == 0 {
		return g, nil
	}
	if in := secretgrant.Names(nil, k.mounts); k.settings.Host.InCluster() && len(in) > 0 {
		return g, fail(k, errors.ErrUnsupported, "No files with secrets in a cluster", "It is to get secret.%s.value in a file, and Pods "+
			"get such values in configs and in the environment. Give it a Secret of the cluster by a plug: path = \"/secret/NAME\".", in[0])
	}
	values, gone := map[string]secretgrant.Value{}, map[string]bool{}
	for _, name := range names {
		if o.Secrets == nil {
			gone[name] = true
			continue
		}
		v, declared, err := o.Secrets.Of(ctx, k.target.Address, name, begins)
		if err != nil {
			return g, err
		}
		if values[name] = v; !declared {
			delete(values, name)
			gone[name] = true
		}
	}
	return secretgrant.Of(values, gone), nil
}
