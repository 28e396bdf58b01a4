package place

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/tree"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/fakeapi"
	"deployster/kube/internal/memagent"
	"deployster/kube/internal/podspec"
)

// shown returns files of an artifact, and the mount that shows them.
func shown(t *testing.T, key, sub string) runner.Mount {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "page.html"), []byte("<p>"), 0o644); err != nil {
		t.Fatal(err)
	}
	sum, err := tree.Measure(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return runner.Mount{Source: artifact.MountSource(key, sub), Target: "/in", Files: &runner.Files{Dir: dir, Key: key, Name: "site", Tree: sum.Hash}}
}

// receiving lets the kubelet run the init containers of files. cut reports whether a connection breaks.
func (c *cluster) receiving(t *testing.T, cut func(*memagent.Receiver) bool) (got func() []string) {
	t.Helper()
	var mu sync.Mutex
	var pages []string
	c.Set(func(b *fakeapi.Behaviour) {
		b.Kubelet = func(r *fakeapi.Running) {
			for _, init := range r.Pod.Spec.InitContainers[1:] {
				a := &memagent.Receiver{Agent: c.newAgent(), Dir: t.TempDir(), Tree: init.Command[3], Cut: cut}
				if !r.Init(init.Name, a) {
					return
				}
				page, err := os.ReadFile(filepath.Join(a.Dir, "files", "page.html"))
				mu.Lock()
				if pages = append(pages, string(page)); err != nil {
					t.Error(err)
				}
				mu.Unlock()
			}
			r.Start(c.newAgent())
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(pages)
	}
}

// Files of an artifact are in the Pod before its container starts, once for each Pod, also after the connection broke.
func TestFiles_ComeBeforeTheContainerStarts(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	cuts := 2
	got := c.receiving(t, func(*memagent.Receiver) bool { cuts--; return cuts >= 0 })
	cl := c.client(t, acts(1))
	for _, id := range []string{"one", "two"} {
		s := action(t, c, id, "exit", "0")
		s.Mounts = []runner.Mount{shown(t, "k1", ""), shown(t, "k1", "page.html")}
		s.Mounts[1].Target = "/page"
		c.Set(func(*fakeapi.Behaviour) {
			c.paths[s.Mounts[0].Source], c.paths[s.Mounts[1].Source] = t.TempDir(), t.TempDir()
		})
		s.Ended = func(runner.Result, error) error {
			spec := c.Pods()[0].Spec
			if got := c.Pods()[0].Labels[podspec.LabelHost]; got != "jobs--eu" {
				t.Errorf("the label of the host is %q", got)
			}
			at := spec.Containers[0].VolumeMounts
			if len(spec.InitContainers) != 2 || at[0].SubPath != "files" || at[1].SubPath != "files/page.html" || !at[0].ReadOnly {
				t.Errorf("%d init containers, %+v", len(spec.InitContainers), at)
			}
			return nil
		}
		settings := s
		settings.Settings.Host = &cl.host
		if res, err := cl.Places.Run(t.Context(), settings); err != nil || res.ExitCode != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	if pages := got(); !slices.Equal(pages, []string{"<p>", "<p>"}) {
		t.Errorf("the Pods got %q", pages)
	}
	if sent := c.Sent(); strings.Contains(sent, "<p>") {
		t.Error("the files are in a request")
	}
	eventually(t, "no Pod is left", func() bool { return len(c.Pods()) == 0 })
}

// Files that do not arrive, or need more room than the Pod has, are the reason why nothing was begun.
func TestFiles_ThatDoNotArrive(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.receiving(t, func(*memagent.Receiver) bool { return true })
	c.block.StartTimeout = 1
	for want, change := range map[string]func(*runner.Spec){
		"no Pod could be started: sending the files of site again: ":                           func(*runner.Spec) {},
		"this is not possible in a cluster: the files of site need 3 bytes, and the Pod has 2": func(s *runner.Spec) { s.Settings.Disk = 2 },
	} {
		s := action(t, c, "one", "exit", "0")
		s.Mounts = []runner.Mount{shown(t, "k1", "")}
		change(&s)
		cl := c.client(t, acts(1))
		s.Settings.Host = &cl.host
		begin := time.Now()
		_, err := cl.Places.Run(t.Context(), s)
		if err == nil || !strings.HasPrefix(err.Error(), want) || len(c.fake.Calls()) != 0 || time.Since(begin) > 10*time.Second {
			t.Errorf("%v, want %s", err, want)
		}
		eventually(t, "no Pod is left", func() bool { return len(c.Pods()) == 0 })
	}
}

// A Pod with files passes Pod Security where one without them does.
func TestFiles_FitPodSecurity(t *testing.T) {
	t.Parallel()
	o := podspec.Order{Cluster: newCluster(t).block, Image: runner.Shipment{Name: "registry.example/a", Digest: "sha256:" + strings.Repeat("b", 64)}, Name: "d-1",
		Mounts: []runner.Mount{{Source: artifact.MountSource("k1", ""), Target: "/in"}}, Files: map[string]podspec.Files{"k1": {Tree: "sha256:1"}}}
	pod, err := o.Pod("try")
	if err != nil {
		t.Fatal(err)
	}
	for _, init := range pod.Spec.InitContainers {
		if s := init.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || len(init.Resources.Limits) != 3 {
			t.Errorf("%s: %+v", init.Name, init)
		}
	}
}
