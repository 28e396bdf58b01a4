package types

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/findings"
	"deployster/plan/plugs"
	"deployster/plan/refresh"
	"deployster/plan/subject"
	"deployster/protocol"
)

// Prober queries an image for its type. *typeclient.Client is one.
type Prober interface {
	Init(ctx context.Context, t typeclient.Target) (protocol.Type, error)
}

// Types are the types of the resources, as their images answer in init, and the
// mounts that the resources are given.
type Types struct {
	subject     *subject.Subject
	findings    *findings.List
	prober      Prober
	plugs       *plugs.Plugs
	parallelism int

	types     map[string]*protocol.Type // address -> the answer of its image to init; equal answers are shared
	typeCache map[string]*protocol.Type // reference -> its last answer
	mounts    map[string][]runner.Mount // address -> granted plugs
	lacking   *sync.Map                 // references of images whose lack of what they need is reported
	mu        sync.Mutex                // guards the maps while images are queried
}

// New returns Types without any type yet. They report errors to the findings.
func New(s *subject.Subject, f *findings.List, p Prober, granted *plugs.Plugs, parallelism int) *Types {
	size := len(s.Manifest.Resources())
	return &Types{subject: s, findings: f, prober: p, plugs: granted, parallelism: parallelism, lacking: &sync.Map{},
		types: make(map[string]*protocol.Type, size), typeCache: map[string]*protocol.Type{}, mounts: make(map[string][]runner.Mount, size)}
}

// Query queries the images of the selected resources for their types, and grants plugs. No
// resource is queried twice, and all types are known before any state is queried.
// Of the resources of one type, the first by address is queried before the others:
// the image declares whether its answer holds for the others too, and that must not
// depend on which resource is quicker.
func (d *Types) Query(ctx context.Context, wanted func(addr string) bool) {
	var first, others []*config.Resource
	seen, typeOf := map[string]bool{}, make(map[string]string, len(d.subject.Manifest.Resources()))
	for _, r := range d.subject.Manifest.Resources() {
		typeOf[r.Address] = r.TypeRef
		_, done := d.types[r.Address]
		switch {
		case done || !wanted(r.Address):
		case seen[r.TypeRef]:
			others = append(others, r)
		default:
			seen[r.TypeRef] = true
			first = append(first, r)
		}
	}
	d.initEach(ctx, first)
	d.initEach(ctx, others)
	if len(d.subject.Lacking) > 0 {
		d.subject.Narrow()
	}
	if len(first)+len(others) > 0 {
		d.subject.Manifest = config.Converting(d.subject.Manifest, d.TypeOf)
	}
	for _, r := range slices.Concat(first, others) {
		if ty, ok := d.types[r.Address]; ok && (ty.Digest != "" || r.Publish != nil) {
			d.findings.Report(r, "", refresh.CheckSubscriptions(r, ty))
			d.findings.Report(r, "", plugs.RequireAliases(r, *ty, func(addr string) string { return typeOf[addr] }))
		}
	}
}

// QueryOthers queries the images of the resources that a partial plan leaves out for their
// types, unless Selection.Apart is set: matching covers all resources. Their errors are
// not reported.
func (d *Types) QueryOthers(ctx context.Context) {
	if !d.subject.Partial() || d.subject.Selection.Apart {
		return
	}
	quiet := d.clone()
	quiet.Query(ctx, func(string) bool { return true })
	d.types, d.typeCache, d.mounts = quiet.types, quiet.typeCache, quiet.mounts
}

// QueryAlso queries the images of resources that the manifest has besides its usual ones, and reports errors to findings.
func (d *Types) QueryAlso(ctx context.Context, resources []*config.Resource, f *findings.List) {
	also := d.clone()
	also.findings = f
	also.initEach(ctx, resources)
}

// clone returns the same types with findings of their own.
func (d *Types) clone() *Types {
	return &Types{subject: d.subject, findings: findings.New(d.subject), prober: d.prober, plugs: d.plugs,
		parallelism: d.parallelism, types: d.types, typeCache: d.typeCache, mounts: d.mounts, lacking: &sync.Map{}}
}

func (d *Types) initEach(ctx context.Context, resources []*config.Resource) {
	var wait sync.WaitGroup
	var next atomic.Int64
	for range min(max(1, d.parallelism), len(resources)) {
		wait.Go(func() {
			for i := next.Add(1); i <= int64(len(resources)); i = next.Add(1) {
				d.init(ctx, resources[i-1])
			}
		})
	}
	wait.Wait()
}

func (d *Types) init(ctx context.Context, r *config.Resource) {
	ty, err := d.prober.Init(ctx, typeclient.Target{Address: r.Address, Reference: r.TypeRef, Settings: r.Settings, Pull: r.Pull,
		Verify: r.Verify})
	switch {
	case err != nil && waits(d, r, err):
		ty = protocol.Type{Reference: r.TypeRef}
	case err != nil:
		d.findings.Report(r, "Cannot query", diag.From("Cannot query "+r.TypeRef, err))
		return
	}
	if ty.Policy != nil {
		d.findings.Report(r, "", diag.Diagnostics{diag.Errorf("The image is a policy", "Image %s judges plans and manages no objects: "+
			"name it "+
			"as the type of a policy block.", diag.Visible(r.TypeRef))})
		return
	}
	if lacking := lacks(r.TypeRef, ty.Needs, r.Settings); lacking != nil {
		if _, told := d.lacking.LoadOrStore(r.TypeRef, true); !told {
			d.findings.Report(r, "", lacking)
		}
		return
	}
	var mounts []runner.Mount
	var diags diag.Diagnostics
	waits := d.plugs.Waits(ctx, r, ty)
	if waits == "" {
		mounts, diags = d.plugs.Grant(ctx, r, ty)
	}
	d.findings.Report(r, "", append(diags, subject.UnknownActions(d.subject.Manifest, r, ty)...))
	d.mu.Lock()
	shared := d.typeCache[r.TypeRef]
	d.mu.Unlock()
	if shared == nil || !reflect.DeepEqual(shared, &ty) { // compared without the lock, which all wait for
		shared = &ty
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if waits != "" {
		d.lackFiles(r.Address, waits)
	}
	d.typeCache[r.TypeRef], d.types[r.Address], d.mounts[r.Address] = shared, shared, mounts
}

// lackFiles notes that a resource needs the files of an artifact that has no version yet: it is left.
func (d *Types) lackFiles(addr, artifact string) {
	if d.subject.Lacking == nil {
		d.subject.Lacking = map[string]string{}
	}
	d.subject.Lacking[addr] = artifact
}

// waits reports whether apply can run an init that no machine can run yet: the host of the resource is still to be made, and
// nothing is recorded that the type would have to be known for.
func waits(d *Types, r *config.Resource, err error) bool {
	_, recorded := d.subject.Prior.Resources[r.Address]
	return diag.Is[*typeclient.NowhereError](err) && !recorded && r.Settings.Host != nil && r.Settings.Host.Address == ""
}

// lacks returns the error about an image that its type block does not give what it needs; nil = it
// lacks nothing.
func lacks(reference string, needs []string, s runner.Settings) diag.Diagnostics {
	for _, need := range needs {
		switch {
		case need != protocol.NeedsWholeMachine:
			return diag.Diagnostics{diag.Errorf("A type needs what there is not", "The image %s needs %q, which this deployster "+
				"cannot give: it is "+
				"older than the image.", diag.Visible(reference), diag.Visible(need))}
		case !s.WholeMachine:
			return diag.Diagnostics{diag.Errorf("A type needs the whole machine", "The image %s works on the machine itself, and no "+
				"type block "+
				"gives it that. Write whole_machine = true in its type block; docs/security.md explains what that means.",
				diag.Visible(reference))}
		}
	}
	return nil
}

// Type returns what the image of a resource answered in init; nil = none, or it was not queried.
func (d *Types) Type(addr string) *protocol.Type { return d.types[addr] }

// Mounts returns the files and directories of the host that a resource is given.
func (d *Types) Mounts(addr string) []runner.Mount { return d.mounts[addr] }

// TypeOf returns what the image of a resource answered in init; the zero Type = none, or it
// was not queried.
func (d *Types) TypeOf(addr string) protocol.Type {
	if ty := d.types[addr]; ty != nil {
		return *ty
	}
	return protocol.Type{}
}
