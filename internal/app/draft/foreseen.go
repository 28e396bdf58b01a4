package draft

import (
	"context"
	"sync"

	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/subject"
)

// Foresee queries the types of resources on hosts that a plan will need, while the hosts are being
// connected: the plan finds their answers kept. It covers the images that come with deployster, which
// need no registry, no lock file and no signature. Each error is left to the plan, which meets it again.
// The caller must call wait before the plan is made.
func (p Planner) Foresee(ctx context.Context, in Inputs) (wait func()) {
	var types sync.WaitGroup
	chosen, diags := subject.Chosen(in.Manifest, in.Prior, in.Selection)
	resolver, err := p.Machine.Resolver(p.Command.Work.Dir, in.Manifest)
	if diags.HasErrors() || err != nil || resolver.Here != nil { // without a containerd here, init needs a connected host
		return types.Wait
	}
	foreseen := map[string]typeclient.Target{}
	for _, r := range in.Manifest.Resources() {
		full, _, err := imagestore.FullName(r.TypeRef)
		if err == nil && imagestore.Reserved(full) && r.Settings.Host != nil && chosen(r.Address) {
			foreseen[r.TypeRef] = typeclient.Target{Address: r.Address, Reference: r.TypeRef, Settings: r.Settings, Pull: r.Pull}
		}
	}
	client := p.Client(in.Prior, Images{Resolver: resolver})
	for _, t := range foreseen {
		types.Go(func() { _, _ = client.Init(ctx, t) })
	}
	return types.Wait
}
