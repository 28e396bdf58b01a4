package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"deployster/config"
	"deployster/containerd"
	"deployster/internal/base/diag"
	"deployster/internal/runner"
	"deployster/internal/runner/typeclient"
	"deployster/state"
)

// supply brings in the images that the resources of a manifest run in, on the
// terms of their type blocks and of the lock file.
type supply struct {
	runtime  *containerd.Runtime
	manifest *config.Manifest
	lock     *config.Lock              // nil = there is no lock file, and nothing is pinned
	wanted   func(address string) bool // whose images all brings in
	writing  bool                      // init: what the lock file does not say yet is added to it
	upgrade  bool                      // init -upgrade: what it says does not count

	mu     sync.Mutex
	pulled map[string]bool   // full reference -> it came from a registry
	done   map[string]string // full reference and terms -> digest
}

// supply begins to bring in images, as the lock file wants them.
func (s *session) supply(m *config.Manifest) (*supply, error) {
	lock, diags := config.ReadLock(s.dir)
	if diags.HasErrors() {
		return nil, diags
	}
	return newSupply(s.runtime, m, lock), nil
}

func newSupply(r *containerd.Runtime, m *config.Manifest, lock *config.Lock) *supply {
	everybody := func(string) bool { return true }
	return &supply{runtime: r, manifest: m, lock: lock, wanted: everybody, pulled: map[string]bool{}, done: map[string]string{}}
}

// need is an image that resources need, on one set of terms.
type need struct {
	resource *config.Resource // the first of them
	full     string
	digest   string // in the reference
}

// all brings in the images of all types, in parallel, before any is run. It
// gives their digests, by full reference.
func (y *supply) all(ctx context.Context) (map[string]string, error) {
	byName, diags := map[string][]need{}, diag.Diagnostics(nil)
	var names []string
	type name struct {
		full, digest string
		err          error
	}
	read := map[string]name{} // most resources have a type that others have too
	for _, r := range y.manifest.Resources() {
		if !y.wanted(r.Address) {
			continue
		}
		n, known := read[r.TypeRef]
		if !known {
			n.full, n.digest, n.err = containerd.FullName(r.TypeRef)
			read[r.TypeRef] = n
		}
		if n.err != nil {
			diags = append(diags, y.at(r, diag.From("Not the name of an image", n.err))...)
			continue
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
			digests[i], failures[i] = y.one(ctx, byName[name])
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

// terms tell apart what is wanted of an image.
func terms(full string, w runner.Wanted) string {
	key := full
	if w.Verify != nil {
		key += "\x00" + w.Verify.Repository + "\x00" + string(w.Verify.Keys)
	}
	return key
}

// had gives the digest of an image that was obtained on the same terms, "" if
// it was not.
func (y *supply) had(full string, w runner.Wanted) string {
	y.mu.Lock()
	defer y.mu.Unlock()
	if digest := y.done[terms(full, w)]; w.Digest == "" || w.Digest == digest {
		return digest
	}
	return ""
}

// sameTerms reports whether two resources want the same of an image.
func sameTerms(a, b *config.Resource) bool {
	if a.Pull != b.Pull || (a.Verify == nil) != (b.Verify == nil) {
		return false
	}
	return a.Verify == nil || a.Verify.Repository == b.Verify.Repository && string(a.Verify.Keys) == string(b.Verify.Keys)
}

// one brings in one image, on all the terms that it is wanted on: whoever asks
// the registry comes first, and the others take what that one got.
func (y *supply) one(ctx context.Context, needs []need) (string, diag.Diagnostics) {
	rank := map[runner.PullPolicy]int{runner.PullAlways: 0, runner.PullMissing: 1, "": 1, runner.PullNever: 2}
	slices.SortStableFunc(needs, func(a, b need) int { return rank[a.resource.Pull] - rank[b.resource.Pull] })
	digest, diags := "", diag.Diagnostics(nil)
	for _, n := range needs {
		w := runner.Wanted{Reference: n.resource.TypeRef, Pull: n.resource.Pull, Verify: n.resource.Verify, Digest: digest}
		if digest != "" && w.Pull == runner.PullAlways {
			w.Pull = runner.PullMissing // it was asked for already
		}
		got, err := y.obtain(ctx, w, n.full, n.digest, true)
		if err != nil {
			diags = append(diags, y.at(n.resource, diag.From("Cannot obtain the image "+n.resource.TypeRef, err))...)
			continue
		}
		digest = got
	}
	return digest, diags
}

// obtain brings in one image. strict: it must be in the lock file, if there is
// one.
func (y *supply) obtain(ctx context.Context, w runner.Wanted, full, inName string, strict bool) (string, error) {
	locked := ""
	if y.lock != nil && inName == "" && !y.upgrade {
		var ok bool
		if locked, ok = y.lock.Images[full]; !ok && strict && !y.writing {
			return "", diag.Errorf("The image "+w.Reference+" is not in the lock file",
				"%s pins the digest of each image, and has none of %s. `deployster init` adds it.", config.LockName, full)
		}
	}
	if w.Digest == "" {
		w.Digest = locked
	}
	w.Force = y.writing && locked != ""
	image, err := y.runtime.Obtain(ctx, w)
	if err == nil && y.upgrade && image.Pulled && w.Pull != runner.PullNever && inName == "" {
		w.Pull = runner.PullAlways
		image, err = y.runtime.Obtain(ctx, w)
	}
	var other *runner.DigestError
	if errors.As(err, &other) {
		return "", y.differs(full, other)
	}
	if err != nil {
		return "", err
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.pulled[full] = y.pulled[full] || image.Pulled
	y.done[terms(full, w)] = image.Digest
	return image.Digest, nil
}

// differs says that the name of an image does not mean what is pinned.
func (y *supply) differs(full string, e *runner.DigestError) error {
	if y.lock == nil || y.lock.Images[full] != e.Want {
		return diag.Errorf("The image "+e.Reference+" has changed", "%s. Try again.", e)
	}
	where := y.lock.At[full].String()
	if e.InRegistry {
		return diag.Errorf("The image "+e.Reference+" is not the one that is pinned",
			"Its registry says %s now, and the lock file pins %s (%s). If the new one is what you want, `deployster init -upgrade` pins that. To go on with the pinned one, take pull = \"always\" out of the type block.",
			e.Have, e.Want, where)
	}
	return diag.Errorf("The image "+e.Reference+" is not the one that is pinned",
		"Here it is %s, and the lock file pins %s (%s). `deployster init` brings the pinned one back; if the new one is what you want, `deployster init -upgrade` pins that.",
		e.Have, e.Want, where)
}

// use brings in an image that a resource runs in, on the terms of its type:
// another one that its image asks for, or that of an instance which was not
// known at first.
func (y *supply) use(ctx context.Context, u typeclient.Use) (string, error) {
	full, inName, err := containerd.FullName(u.Reference)
	if err != nil {
		return "", err
	}
	w := runner.Wanted{Reference: u.Reference, Digest: u.Digest, Pull: u.Pull, Verify: u.Verify}
	if digest := y.had(full, w); digest != "" {
		return digest, nil
	}
	if w.Pull == runner.PullAlways && u.Digest != "" {
		w.Pull = runner.PullMissing
	}
	if u.Digest != "" && inName == "" {
		// Whatever the name means by now: this one was planned with.
		w.Reference = containerd.WithDigest(full, u.Digest)
		inName = u.Digest
	}
	return y.obtain(ctx, w, full, inName, u.Step == typeclient.StepInit)
}

// fromRegistry reports whether an image can be had again from its registry.
func (y *supply) fromRegistry(full string) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.pulled[full]
}

// at shows where the resource is declared that something is about.
func (y *supply) at(r *config.Resource, diags diag.Diagnostics) diag.Diagnostics {
	for i, d := range diags {
		placed := *d
		placed.Address = r.Address
		diags[i] = y.manifest.Diagnose(&placed, &r.Range)
	}
	return diags
}

// former brings back the images by which resources are removed that are not
// declared any more. What cannot be had is missed when it is run.
func (y *supply) former(ctx context.Context, prior state.Snapshot) {
	declared := map[string]bool{}
	for _, r := range y.manifest.Resources() {
		declared[r.Address] = true
	}
	for address, entry := range prior.Resources {
		if declared[address] || !y.wanted(address) || entry.OnRemove == "forget" || !strings.Contains(entry.Digest, ":") {
			continue
		}
		if _, err := y.runtime.Resolve(ctx, entry.Digest); errors.Is(err, runner.ErrNoImage) {
			if full, _, err := containerd.FullName(entry.Type); err == nil {
				_, _ = y.runtime.Obtain(ctx, runner.Wanted{Reference: containerd.WithDigest(full, entry.Digest)})
			}
		}
	}
}
