package plan

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runner/typeclient"
	"deployster/protocol"
)

// initialise asks the images of the wanted resources what they are, and grants
// plugs. Nobody is asked twice, and all are through before any is asked for
// its state. Of the resources of one type the first by its address is asked
// first: whether its answer is for the others too is the image's to say, and
// must not hang on which of them is quicker.
func (b *builder) initialise(ctx context.Context, wanted func(addr string) bool) {
	var first, others []*config.Resource
	seen, typeOf := map[string]bool{}, make(map[string]string, len(b.manifest.Resources()))
	for _, r := range b.manifest.Resources() {
		typeOf[r.Address] = r.TypeRef
		_, done := b.types[r.Address]
		switch {
		case done || !wanted(r.Address):
		case seen[r.TypeRef]:
			others = append(others, r)
		default:
			seen[r.TypeRef] = true
			first = append(first, r)
		}
	}
	b.initEach(ctx, first)
	b.initEach(ctx, others)
	for _, r := range slices.Concat(first, others) {
		if ty, ok := b.types[r.Address]; ok {
			b.report(r, "", requireAliases(r, *ty, func(addr string) string { return typeOf[addr] }))
		}
	}
}

func (b *builder) initEach(ctx context.Context, resources []*config.Resource) {
	var wait sync.WaitGroup
	var next atomic.Int64
	for range min(max(1, b.options.Parallelism), len(resources)) {
		wait.Go(func() {
			for i := next.Add(1); i <= int64(len(resources)); i = next.Add(1) {
				b.init(ctx, resources[i-1])
			}
		})
	}
	wait.Wait()
}

func (b *builder) init(ctx context.Context, r *config.Resource) {
	ty, err := b.prober.Init(ctx, typeclient.Target{Address: r.Address, Reference: r.TypeRef, Settings: r.Settings, Pull: r.Pull,
		Verify: r.Verify})
	if err != nil {
		b.report(r, "Cannot initialise", diag.From("Cannot initialise "+r.TypeRef, err))
		return
	}
	mounts, diags := b.plugs.grant(r, ty)
	b.report(r, "", diags)
	b.mu.Lock()
	defer b.mu.Unlock()
	shared := b.typeCache[r.TypeRef]
	if shared == nil || !reflect.DeepEqual(*shared, ty) {
		said := ty // only this one has to outlive the call
		shared = &said
		b.typeCache[r.TypeRef] = shared
	}
	b.types[r.Address], b.mounts[r.Address] = shared, mounts
}

// typeOf is what the image of a resource said in init, nothing when it was not
// asked.
func (b *builder) typeOf(addr string) protocol.Type {
	if ty := b.types[addr]; ty != nil {
		return *ty
	}
	return protocol.Type{}
}
