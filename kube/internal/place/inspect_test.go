package place

import (
	"context"
	"strings"
	"testing"

	authorization "k8s.io/api/authorization/v1"
	core "k8s.io/api/core/v1"

	"deployster/internal/runtime/remote"
	"deployster/kube/internal/fakeapi"
)

func contextWithCause(t *testing.T) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}

func TestInspect_DescribesTheNamespace(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	quota := core.ResourceQuota{}
	quota.Name = "ops"
	quota.Spec.Hard = core.ResourceList{core.ResourcePods: *quantity("20")}
	quota.Status.Used = core.ResourceList{core.ResourcePods: *quantity("6")}
	c.Set(func(b *fakeapi.Behaviour) {
		b.Labels = map[string]string{enforce: "baseline", enforceVersion: "v1.34"}
		b.Quotas = []core.ResourceQuota{quota}
		b.Allow = func(a authorization.ResourceAttributes) bool { return a.Resource != "events" }
	})
	client, err := serve(t, c.place(t), acts(0))
	if err != nil {
		t.Fatal(err)
	}
	if n := client.Welcome().Namespace; n == nil || n.PodSecurity != "baseline" || n.PodSecurityVersion != "v1.34" {
		t.Errorf("%+v", n)
	}
	if f := client.Welcome().Facts; f.Hostname != "jobs" || f.OS != "kubernetes" || f.OSVersion != "v1.37.2" || f.Machine != "ns-1" {
		t.Errorf("%+v", f)
	}
	found, err := client.Inspect(t.Context(), remote.Inspection{Start: true})
	if err != nil {
		t.Fatal(err)
	}
	want := `kubernetes v1.37.2, agent 1, Pod Security baseline (enforced), 14 of 20 Pods left by quota "ops"`
	if got := strings.Join(found.Facts, ", "); got != want {
		t.Errorf("%s", got)
	}
	want = "Pods may be created and exec'd; events may not be read: mount errors are shown without their reason"
	if got := strings.Join(found.Notes, "; "); got != want {
		t.Errorf("%s", got)
	}
	eventually(t, "its Pod is deleted", func() bool { return len(c.Pods()) == 0 })
}

// Each right that is needed is named when it is missing.
func TestInspect_NamesMissingRights(t *testing.T) {
	t.Parallel()
	for _, missing := range []string{"create of pods", "get of pods", "list of pods", "watch of pods", "delete of pods",
		"create of pods/exec", "get of pods/exec", "create of leases", "get of leases", "update of leases", "get of namespaces"} {
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.Set(func(b *fakeapi.Behaviour) {
				b.Allow = func(a authorization.ResourceAttributes) bool {
					name := a.Resource
					if a.Subresource != "" {
						name += "/" + a.Subresource
					}
					return a.Verb+" of "+name != missing
				}
			})
			want := "the account lacks rights in the namespace jobs: " + missing
			for _, epoch := range []int64{0, 1} { // before anything is made
				client, err := serve(t, c.place(t), acts(epoch))
				if epoch == 0 && strings.HasSuffix(missing, "leases") { // who only reads needs none
					if err != nil {
						t.Fatal(err)
					}
					_, err = client.Inspect(t.Context(), remote.Inspection{})
				}
				if err == nil || !strings.HasSuffix(err.Error(), want) || len(c.Pods()) > 0 {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			}
		})
	}
}

// Pods that have ended are counted, and removed if that is requested. One whose outcome a state waits for stays.
func TestInspect_PrunesWhatHasEnded(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	first := c.client(t, acts(1))
	s := action(t, c, "one", "obey")
	s.Stdout = onFirst(func() { go c.Find(c.Pods()[0].Name).Evict("no room") })
	_, _ = first.Run(t.Context(), s) // its outcome is unknown
	reader := acts(0)
	reader.Run = "reader"
	client, err := serve(t, c.place(t), reader)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := client.Inspect(t.Context(), remote.Inspection{Prune: true}); err != nil || found.Ended != 0 || len(c.Pods()) != 1 {
		t.Errorf("an open action: %+v, %v", found, err)
	}
	found, err := client.Inspect(t.Context(), remote.Inspection{Prune: true, Lineage: "lineage"})
	if err != nil || found.Ended != 0 || len(c.Pods()) != 1 {
		t.Errorf("an open action of the state: %+v, %v", found, err)
	}
	c.RemoveLeases() // nobody waits for it
	if found, err = client.Inspect(t.Context(), remote.Inspection{Prune: true, Lineage: "another"}); err != nil || found.Ended != 0 {
		t.Errorf("another state's: %+v, %v", found, err)
	}
	for i, want := range []remote.Found{{Ended: 1}, {Ended: 1, Pruned: 1}, {}} {
		ask := remote.Inspection{Prune: i == 1, All: i != 1}
		if i == 1 {
			ask.Lineage = "lineage"
		}
		found, err := client.Inspect(t.Context(), ask)
		if err != nil || found.Ended != want.Ended || found.Pruned != want.Pruned {
			t.Errorf("%d: %+v, %v", i, found, err)
		}
	}
}
