package images

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/internal/runtime/runner/typeclient"
)

// Resolver fetches the images that the resources of a manifest run in, on the terms of
// their type blocks and of the lock file.
type Resolver struct {
	runtime  Runtime
	manifest *config.Manifest
	lock     *config.Lock              // nil = there is no lock file, and nothing is pinned
	Wanted   func(address string) bool // selects the resources whose images All fetches
	Machine  func(ref string) error    // why an image may not have the whole machine; nil = all may
	Here     func() error              // why an image cannot run on this machine; nil = all can
	// Open opens the runtime of this machine, which All needs unless all images come with deployster and run on hosts; nil =
	// it is open.
	Open    func(context.Context) error
	Pin     bool // init: images that the lock file lacks are added to it
	Upgrade bool // init -upgrade: the digests in the lock file are ignored

	mu     sync.Mutex
	moved  []MovedName
	pulled map[string]bool   // full reference -> it came from a registry
	done   map[string]string // full reference and terms -> digest
}

// MovedName is a name that referred to another image here, and was given to the image of
// the lock file.
type MovedName struct {
	Name     string // full
	Now, Was string // digests
}

// Moved returns the names that were moved, sorted.
func (rs *Resolver) Moved() []MovedName {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	slices.SortFunc(rs.moved, func(a, b MovedName) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(rs.moved)
}

// NewResolver returns a Resolver for a manifest and a lock file, which may be nil. A lock
// file that holds only artifacts pins no image.
func NewResolver(r Runtime, m *config.Manifest, lock *config.Lock) *Resolver {
	if lock != nil && len(lock.Images) == 0 {
		lock = nil
	}
	everybody := func(string) bool { return true }
	return &Resolver{runtime: r, manifest: m, lock: lock, Wanted: everybody, pulled: map[string]bool{}, done: map[string]string{}}
}

// ReadLock returns the lock file of a directory; nil = there is none.
func ReadLock(dir string) (*config.Lock, error) {
	lock, diags := config.ReadLock(dir)
	if diags.HasErrors() {
		return nil, diags
	}
	return lock, nil
}

// need is an image that resources need, on one set of terms.
type need struct {
	resource *config.Resource // the first of these resources
	full     string
	digest   string // of the reference
}

// All fetches the images of all types, in parallel, before any is run. It returns their
// digests, by full reference.
func (rs *Resolver) All(ctx context.Context) (map[string]string, error) {
	byName, diags := map[string][]need{}, diag.Diagnostics(nil)
	var names []string
	type name struct {
		full, digest string
		err          error
		refused      bool
	}
	read := map[string]name{} // many resources share a type
	var looked []*config.Resource
	if rs.Pin { // a plan fetches them when it reads them: what fails then is a warning
		looked = rs.manifest.Unattended().Lookups()
	}
	all := slices.DeleteFunc(slices.Concat(rs.manifest.Resources(), typesOfArtifacts(rs.manifest), rs.notifiers(), looked,
		rs.manifest.Types().Pending()), func(r *config.Resource) bool { return !rs.Wanted(r.Address) })
	if err := rs.open(ctx, all); err != nil {
		return nil, err
	}
	for _, r := range all {
		n, known := read[r.TypeRef]
		if !known {
			n.full, n.digest, n.err = imagestore.FullName(r.TypeRef)
			read[r.TypeRef] = n
			if n.err == nil && rs.Machine != nil && r.Settings.WholeMachine {
				diags = append(diags, rs.At(r, diag.From("Not the whole machine", rs.Machine(r.TypeRef)))...)
			}
		}
		if n.err != nil {
			diags = append(diags, rs.At(r, diag.From("Not the name of an image", n.err))...)
			continue
		}
		if rs.Here != nil && r.Settings.Host == nil && !n.refused {
			diags = append(diags, rs.At(r, diag.From("Not on this machine", rs.Here()))...)
			n.refused = true // one is enough of each type
			read[r.TypeRef] = n
		}
		full, digest := n.full, n.digest
		if byName[full] == nil {
			names = append(names, full)
		}
		if !slices.ContainsFunc(byName[full], func(n need) bool { return sameTerms(n.resource, r) }) {
			byName[full] = append(byName[full], need{r, full, digest})
		}
	}
	if diags.HasErrors() {
		return nil, diags
	}
	slices.Sort(names)
	digests, failures := make([]string, len(names)), make([]diag.Diagnostics, len(names))
	var group errgroup.Group
	group.SetLimit(parallelPulls)
	for i, name := range names {
		group.Go(func() error {
			digests[i], failures[i] = rs.one(ctx, byName[name])
			return nil
		})
	}
	_ = group.Wait() // each has its own diagnostics
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	pins := map[string]string{}
	for i, name := range names {
		pins[name] = digests[i]
		diags = append(diags, failures[i]...)
	}
	return pins, diags.Err()
}

// open opens the runtime of this machine if one of these resources needs it.
func (rs *Resolver) open(ctx context.Context, all []*config.Resource) error {
	if rs.Open == nil || !slices.ContainsFunc(all, func(r *config.Resource) bool {
		full, _, err := imagestore.FullName(r.TypeRef)
		return r.Settings.Host == nil || err == nil && !imagestore.Reserved(full)
	}) {
		return nil
	}
	return rs.Open(ctx)
}

// typesOfArtifacts returns the images of artifacts, in the form of resources.
func typesOfArtifacts(m *config.Manifest) (list []*config.Resource) {
	for _, a := range m.Artifacts() {
		list = append(list, &config.Resource{Address: "artifact." + a.Name, TypeRef: a.TypeRef, Pull: a.Pull, Verify: a.Verify,
			Settings: a.Settings,
			Range:    a.Range})
	}
	return list
}

// terms returns a key for a reference and the signature that the image needs.
func terms(full string, w runner.Wanted) string {
	key := full
	if w.Remote {
		key += "\x00remote"
	}
	if w.Verify != nil {
		key += "\x00" + w.Verify.Repository + "\x00" + string(w.Verify.Keys)
	}
	return key
}

// had returns the digest of an image that was obtained on the same terms, or "".
func (rs *Resolver) had(full string, w runner.Wanted) string {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	digest := rs.done[terms(full, w)]
	if w.Remote && digest == "" { // what is whole here is enough
		w.Remote = false
		digest = rs.done[terms(full, w)]
	}
	if w.Digest == "" || w.Digest == digest {
		return digest
	}
	return ""
}

// sameTerms reports whether two resources obtain an image on the same terms.
func sameTerms(a, b *config.Resource) bool {
	return a.Pull == b.Pull && sameVerify(a.Verify, b.Verify) && a.Settings.Host.InCluster() == b.Settings.Host.InCluster()
}

// sameVerify reports whether a and b demand the same signature.
func sameVerify(a, b *runner.Verify) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Repository == b.Repository && string(a.Keys) == string(b.Keys)
}

// one fetches one image, on each of the terms that resources need it on. The terms that
// query the registry come first, and the others take the digest of that.
func (rs *Resolver) one(ctx context.Context, needs []need) (string, diag.Diagnostics) {
	rank := map[runner.PullPolicy]int{runner.PullAlways: 0, runner.PullMissing: 1, "": 1, runner.PullNever: 2}
	slices.SortStableFunc(needs, func(a, b need) int { return rank[a.resource.Pull] - rank[b.resource.Pull] })
	digest, diags := "", diag.Diagnostics(nil)
	remote := !slices.ContainsFunc(needs, func(n need) bool { return !n.resource.Settings.Host.InCluster() })
	for _, n := range needs {
		w := runner.Wanted{Reference: n.resource.TypeRef, Pull: n.resource.Pull, Verify: n.resource.Verify, Digest: digest, Remote: remote}
		if digest != "" && w.Pull == runner.PullAlways {
			w.Pull = runner.PullMissing // the registry was queried already
		}
		got, err := rs.obtain(ctx, w, n.full, n.digest, true)
		if err != nil {
			diags = append(diags, rs.At(n.resource, diag.From("Cannot obtain the image "+n.resource.TypeRef, err))...)
			continue
		}
		digest = got
	}
	return digest, diags
}

// obtain fetches one image. With strict it must be in the lock file, if there is one.
func (rs *Resolver) obtain(ctx context.Context, w runner.Wanted, full, inName string, strict bool) (string, error) {
	locked := ""
	if rs.lock != nil && inName == "" && !rs.Upgrade && !imagestore.Reserved(full) {
		var ok bool
		if locked, ok = rs.lock.Images[full]; !ok && strict && !rs.Pin {
			return "", diag.Errorf("The image "+w.Reference+" is not in the lock file",
				"%s pins the digest of each image, and has none of %s.%s `deployster init` adds it.",
				config.LockName, full, words.DidYouMean(full, slices.Collect(maps.Keys(rs.lock.Images))))
		}
	}
	if w.Digest == "" {
		w.Digest = locked
	}
	w.Force = rs.Pin && locked != ""
	was := ""
	if w.Force {
		if there, err := rs.runtime.Resolve(ctx, full); err == nil {
			was = there.Digest
		}
	}
	image, err := rs.runtime.Obtain(ctx, w)
	if err == nil && rs.Upgrade && image.Pulled && w.Pull != runner.PullNever && inName == "" {
		w.Pull = runner.PullAlways
		image, err = rs.runtime.Obtain(ctx, w)
	}
	if other, ok := errors.AsType[*runner.DigestError](err); ok {
		return "", rs.differs(full, other)
	}
	if err != nil {
		return "", err
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if was != "" && was != image.Digest {
		rs.moved = append(rs.moved, MovedName{Name: full, Now: image.Digest, Was: was})
	}
	rs.pulled[full] = rs.pulled[full] || image.Pulled
	rs.done[terms(full, w)] = image.Digest
	return image.Digest, nil
}

// differs is the error about an image name that does not refer to the pinned digest.
func (rs *Resolver) differs(full string, e *runner.DigestError) error {
	if rs.lock == nil || rs.lock.Images[full] != e.Want {
		return diag.Errorf("The image "+e.Reference+" has changed", "%s. Try again.", e)
	}
	where := rs.lock.At[full].String()
	if e.InRegistry {
		return diag.Errorf("The image "+e.Reference+" is not the one that is pinned",
			"Its registry has %s now, and the lock file pins %s (%s). To use the new one, run `deployster init -upgrade`. To keep the "+
				"pinned one, remove pull = \"always\" from the type block.",
			e.Have, e.Want, where)
	}
	return diag.Errorf("The image "+e.Reference+" is not the one that is pinned",
		"Here it is %s, and the lock file pins %s (%s). `deployster init` pulls the pinned one; `deployster init -upgrade` pins the new "+
			"one.",
		e.Have, e.Want, where)
}

// Hosts returns the hosts of the resources of a type, in the order of the manifest.
func (rs *Resolver) Hosts(reference string) (list []runner.Host) {
	for _, r := range rs.manifest.Resources() {
		if r.TypeRef == reference && r.Settings.Host != nil {
			list = append(list, *r.Settings.Host)
		}
	}
	return list
}

// Clusters returns those of Hosts that are namespaces of clusters.
func (rs *Resolver) Clusters(reference string) []runner.Host {
	return slices.DeleteFunc(rs.Hosts(reference), func(h runner.Host) bool { return h.Kubernetes == nil })
}

// Use fetches an image that a resource runs in, on the terms of its type: another one
// that its image requests, or that of an instance that was not known at first.
func (rs *Resolver) Use(ctx context.Context, u typeclient.Use) (string, error) {
	full, inName, err := imagestore.FullName(u.Reference)
	if err != nil {
		return "", err
	}
	w := runner.Wanted{Reference: u.Reference, Digest: u.Digest, Pull: u.Pull, Verify: u.Verify, Remote: u.Remote}
	if digest := rs.had(full, w); digest != "" {
		return digest, nil
	}
	if w.Pull == runner.PullAlways && u.Digest != "" {
		w.Pull = runner.PullMissing
	}
	if u.Digest != "" && inName == "" {
		// Whatever the name refers to by now, the plan was made with this digest.
		w.Reference = imagestore.WithDigest(full, u.Digest)
		inName = u.Digest
	}
	return rs.obtain(ctx, w, full, inName, u.Step == typeclient.StepInit)
}

// FromRegistry reports whether an image can be fetched again from its registry.
func (rs *Resolver) FromRegistry(full string) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.pulled[full]
}

// At returns diagnostics with the address and the place of the resource that they refer to.
func (rs *Resolver) At(r *config.Resource, diags diag.Diagnostics) diag.Diagnostics {
	for i, d := range diags {
		placed := *d
		placed.Address = r.Address
		diags[i] = rs.manifest.Diagnose(&placed, &r.Range)
	}
	return diags
}
