package machine

import (
	"context"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/remote/router"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
)

// initOn returns what finds a host on which a type answers init: the first of its hosts that
// answers. hosts returns those of an image.
func initOn(at *router.Places, hosts func(reference string) []runner.Host) func(context.Context, typeclient.Target) (*runner.Host, error) {
	return func(ctx context.Context, t typeclient.Target) (*runner.Host, error) {
		candidates := hosts(t.Reference)
		if t.Settings.Host != nil { // what is no longer declared is on a host that only the state has
			candidates = append(candidates, *t.Settings.Host)
		} else if len(candidates) == 0 {
			return nil, nil // it runs here
		}
		tried := map[string]bool{}
		none := &typeclient.NowhereError{Reference: t.Reference}
		for _, h := range candidates {
			if h.Address == "" || tried[h.Name] {
				continue
			}
			tried[h.Name] = true
			_, err := at.Welcome(ctx, h)
			if err == nil {
				return &h, nil
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			none.Tried = append(none.Tried, h.Name+" cannot be reached: "+diag.Visible(err.Error()))
		}
		return nil, none
	}
}

// inClusters returns what finds a cluster on which a type answers init whose containers are Pods; any other
// type answers here.
func inClusters(find func(context.Context, typeclient.Target) (*runner.Host, error)) func(context.Context,
	typeclient.Target) (*runner.Host, error) {
	return func(ctx context.Context, t typeclient.Target) (*runner.Host, error) {
		if t.Settings.Host.InCluster() {
			return find(ctx, t)
		}
		return nil, nil
	}
}

// bundledOnHosts returns what finds where a type answers init: one that comes with deployster, without its answer, and is for a
// host answers there while the runtime of this machine is not open, and here if no host can be reached. other finds it for any
// other type.
func (m *Machine) bundledOnHosts(onHost, other func(context.Context, typeclient.Target) (*runner.Host, error)) func(context.Context,
	typeclient.Target) (*runner.Host, error) {
	return func(ctx context.Context, t typeclient.Target) (*runner.Host, error) {
		full, _, err := imagestore.FullName(t.Reference)
		if h := t.Settings.Host; err != nil || !imagestore.Reserved(full) || h == nil || h.InCluster() || m.isOpen() {
			return other(ctx, t)
		}
		h, err := onHost(ctx, t)
		if diag.Is[*typeclient.NowhereError](err) {
			return nil, nil // it runs here
		}
		return h, err
	}
}
