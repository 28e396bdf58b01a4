package draft

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"deployster/config"
	"deployster/internal/app/images"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/order"
	"deployster/plan/subject"
)

// Foresee does what a plan will need on hosts, while these are being connected: it queries types,
// whose answers the plan finds kept, and sends their images. It covers the images that come
// with deployster, which need no registry, no lock file and no signature. Each error is left to the plan,
// which meets it again. The caller must call wait before the plan is made.
func (p Planner) Foresee(ctx context.Context, in Inputs) (wait func()) {
	var work sync.WaitGroup
	onHosts := slices.DeleteFunc(slices.Clone(in.Manifest.Resources()), func(r *config.Resource) bool { return r.Settings.Host == nil })
	if len(onHosts) == 0 {
		return work.Wait
	}
	chosen, diags := subject.Chosen(in.Manifest, in.Prior, in.Selection)
	resolver, err := p.Machine.Resolver(p.Command.Work.Dir, in.Manifest)
	if diags.HasErrors() || err != nil {
		return work.Wait
	}
	types, needed := map[string]*config.Resource{}, map[string]*shipped{}
	for _, r := range onHosts {
		full, _, err := imagestore.FullName(r.TypeRef)
		if err != nil || !imagestore.Reserved(full) || !chosen(r.Address) {
			continue
		}
		types[r.TypeRef] = r
		if needed[full] == nil {
			needed[full] = &shipped{r.TypeRef, map[string]runner.Host{}}
		}
		if h := r.Settings.Host; h.Address != "" {
			needed[full].to[h.Name] = *h
		}
	}
	client := p.Client(in.Prior, images.Set{Resolver: resolver})
	for ref, r := range types {
		work.Go(func() {
			_, _ = client.Init(ctx, typeclient.Target{Address: r.Address, Reference: ref, Settings: r.Settings, Pull: r.Pull})
		})
	}
	for _, image := range needed {
		work.Go(func() { p.ship(ctx, image, cmp.Or(in.AtOnce, order.Hosts)) })
	}
	return work.Wait
}

// shipped is an image, by a reference to it, and the hosts that need it.
type shipped struct {
	reference string
	to        map[string]runner.Host
}

// ship sends an image to hosts.
func (p Planner) ship(ctx context.Context, s *shipped, atOnce int) {
	image, err := p.Machine.Runtime.Resolve(ctx, s.reference)
	if err != nil {
		return
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for _, h := range s.to {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			_ = p.Places.Ship(ctx, h, image.Digest)
		})
	}
	all.Wait()
}
