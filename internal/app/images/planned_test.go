package images

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/plan"
	"deployster/plan/change"
	"deployster/protocol"
)

// registry is a Runtime to which images can be fetched.
type registry struct {
	here   []string // digests
	has    []string // references that can be fetched
	wanted []runner.Wanted
	looked []string
}

func (r *registry) Resolve(_ context.Context, reference string) (runner.Image, error) {
	r.looked = append(r.looked, reference)
	if slices.Contains(r.here, reference) {
		return runner.Image{Digest: reference}, nil
	}
	return runner.Image{}, fmt.Errorf("%s: %w", reference, runner.ErrNoImage)
}

func (r *registry) Obtain(_ context.Context, w runner.Wanted) (runner.Image, error) {
	r.wanted = append(r.wanted, w)
	if !slices.Contains(r.has, w.Reference) {
		return runner.Image{}, diag.Errorf("No such image", "There is no %s.", w.Reference)
	}
	_, digest, _ := strings.Cut(w.Reference, "@")
	r.here = append(r.here, digest)
	return runner.Image{Digest: digest}, nil
}

// references are those that were asked for.
func (r *registry) references() (list []string) {
	for _, w := range r.wanted {
		list = append(list, w.Reference)
	}
	return list
}

func digestOf(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func step(kind plan.Change, ref, digest string) *plan.Step {
	return &plan.Step{Type: ref, Init: protocol.Type{Reference: ref, Digest: digest}, Part: change.New(kind)}
}

// The tag of a type has moved twice: what is removed, replaced or asked again was made
// by other images than that of now.
func TestEnsure_FetchesEachImageOnce(t *testing.T) {
	t.Parallel()
	const ref = "registry.example.com/team/file:1"
	now, first, second, old, other := digestOf("a"), digestOf("b"), digestOf("c"), digestOf("d"), digestOf("e")
	replaced := step(plan.Replace, ref, now)
	replaced.Part = &change.Replace{Old: step(plan.Destroy, "acme/old:1", old)}
	p := &plan.Plan{Images: map[string]string{ref: now}, Pulled: []string{ref},
		Resources: map[string]*plan.Step{
			"kept":      step(plan.Update, ref, now),
			"replaced":  replaced,
			"removed":   step(plan.Destroy, ref, first),
			"removed2":  step(plan.Destroy, ref, second),
			"removed3":  step(plan.Destroy, "acme/file", second),
			"forgotten": step(plan.Forget, "acme/never:1", digestOf("f")),
		},
		Others: map[string]protocol.Type{"left": {Reference: "acme/other#kind", Digest: other}}}
	const repository = "registry.example.com/team/file@"
	all := []string{repository + now, repository + first, repository + second, "docker.io/acme/old@" + old, "docker.io/acme/other@" + other}
	r := &registry{has: all}
	if err := Ensure(t.Context(), r, p); err != nil {
		t.Fatal(err)
	}
	got := r.references()
	got = slices.DeleteFunc(got, func(ref string) bool { return ref == "docker.io/acme/file@"+second }) // it has two names
	slices.Sort(got)
	slices.Sort(all)
	if !slices.Equal(got, all) || len(r.looked) != len(all) {
		t.Errorf("fetched are %q, looked for %q; want %q", got, r.looked, all)
	}
}

// An image that came from no registry is not asked for in one.
func TestEnsure_MissesWhatWasPacked(t *testing.T) {
	t.Parallel()
	packed := digestOf("a")
	p := &plan.Plan{Images: map[string]string{"docker.io/acme/file:1": packed},
		Resources: map[string]*plan.Step{"a": step(plan.Update, "acme/file:1", packed)}}
	r := &registry{}
	err := Ensure(t.Context(), r, p)
	if err == nil || !strings.Contains(err.Error(), "is not on this machine") || len(r.wanted) > 0 {
		t.Errorf("%v, and asked for are %v", err, r.wanted)
	}
	p.Resources["a"].Part = &change.Destroy{} // of now too
	if err := Ensure(t.Context(), r, p); err == nil || len(r.wanted) > 0 {
		t.Errorf("%v, and asked for are %v", err, r.wanted)
	}
}

// What is fetched for a step must be signed as its type demands, its other images too, and
// one image that is asked for with and without a signature. What is here is checked as well.
func TestEnsure_RequiresSignatures(t *testing.T) {
	t.Parallel()
	const own, other = "registry.example.com/team/file:1", "registry.example.com/team/helper:1"
	verify := &runner.Verify{Keys: []byte("key"), KeyName: "ours.pub"}
	signed := step(plan.Update, own, digestOf("a"))
	signed.Verify, signed.Answer().Actions = verify, []protocol.Action{{Command: protocol.Command{Image: other}}}
	old := *signed
	old.Part, old.Init.Digest = &change.Destroy{}, digestOf("c")
	p := &plan.Plan{Images: map[string]string{own: digestOf("a"), other: digestOf("b")}, Pulled: []string{own, other},
		Resources: map[string]*plan.Step{"a": signed, "b": step(plan.Update, own, digestOf("a")), "c": &old}}
	all := []string{"registry.example.com/team/file@" + digestOf("a"), "registry.example.com/team/helper@" + digestOf("b"),
		"registry.example.com/team/file@" + digestOf("c")}
	for _, r := range []*registry{{has: all}, {has: all, here: []string{digestOf("a"), digestOf("b"), digestOf("c")}}} {
		if err := Ensure(t.Context(), r, p); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.references(), all) {
			t.Errorf("asked for are %q, want %q", r.references(), all)
		}
		for _, w := range r.wanted {
			if w.Verify != verify {
				t.Errorf("%s is wanted without a signature", w.Reference)
			}
		}
	}
	for _, here := range [][]string{nil, {digestOf("a"), digestOf("b"), digestOf("c")}} {
		r := &registry{here: here}
		if err := Ensure(t.Context(), r, p); err == nil || len(r.wanted) != 1 || r.wanted[0].Verify == nil {
			t.Errorf("%v, and asked for are %v", err, r.wanted)
		}
	}
}

// An image that runs in clusters alone is fetched for them: whether its layers are here does not matter. One
// that runs elsewhere too is fetched whole.
func TestEnsure_FetchesForClusters(t *testing.T) {
	t.Parallel()
	const ref, repository = "registry.example.com/team/file:1", "registry.example.com/team/file@"
	here, there, both := step(plan.Create, ref, ""), step(plan.Create, ref, ""), step(plan.Create, ref, "")
	there.Settings.Host = &runner.Host{Name: "jobs", Kubernetes: &runner.Cluster{}}
	both.Settings.Host = there.Settings.Host
	here.Init.Digest, there.Init.Digest, both.Init.Digest = digestOf("a"), digestOf("b"), digestOf("a")
	p := &plan.Plan{Images: map[string]string{ref: digestOf("b")}, Resources: map[string]*plan.Step{"here": here, "there": there, "both": both}}
	r := &registry{has: []string{repository + digestOf("a"), repository + digestOf("b")}}
	if err := Ensure(t.Context(), r, p); err != nil {
		t.Fatal(err)
	}
	if len(r.wanted) != 2 || r.wanted[0].Remote || !r.wanted[1].Remote || !slices.Equal(r.looked, []string{digestOf("a")}) {
		t.Errorf("fetched %+v, searched for %v", r.wanted, r.looked)
	}
}
