package app_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deployster/apply"
	"deployster/containerd"
	"deployster/containerd/shim"
	"deployster/internal/app"
	"deployster/internal/app/approval"
	"deployster/internal/app/workspace"
	"deployster/internal/runtime/runner/imagestore"
	"deployster/plan"
)

// TestMain makes this test's program what the product's is: also the shim and
// the server.
func TestMain(m *testing.M) {
	switch {
	case shim.Is(os.Args[0]):
		shim.Run()
	case containerd.IsServer(os.Args[0]):
		os.Exit(containerd.RunServer(os.Args[1:]))
	default:
		os.Exit(m.Run())
	}
}

// TestEngine_Containers plans and applies through real containers: the type is a
// shell script, and the thing that it makes a file of the plug.
func TestEngine_Containers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("this test makes containers and must run as root")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.hcl"), "plug \"world\" {\n  path = \"world\"\n}\nresource \"a\" {\n  type   = \"test/thing\"\n  config = { size = 1 }\n}\n")
	if err := os.Mkdir(filepath.Join(dir, "world"), 0o755); err != nil {
		t.Fatal(err)
	}
	open := openContainerd(t)
	engine := func() *app.Engine { // for one command each
		e := app.New(app.Options{Workspace: workspace.Options{Dir: dir, Version: "test"}, Open: open})
		t.Cleanup(e.Close)
		return e
	}
	report, err := engine().Apply(t.Context(), app.ApplyOptions{Approval: approval.Options{Auto: true}})
	if err != nil || report.Status != apply.OK {
		t.Fatalf("%+v, %v", report, err)
	}
	if made, err := os.ReadFile(filepath.Join(dir, "world", "a")); err != nil || string(made) != `{"size":1}` {
		t.Errorf("the thing is %q (%v)", made, err)
	}
	p, err := engine().Plan(t.Context(), app.PlanOptions{})
	if err != nil || p.Resources["a"].Change() != plan.Valid {
		t.Errorf("after the apply the plan is %+v (%v), want nothing to do", p, err)
	}
}

// openContainerd returns what opens an embedded containerd of the test's own, which
// has the image of the type and ends with the test.
func openContainerd(t *testing.T) func(context.Context) (app.Runtime, error) {
	t.Helper()
	data, err := os.MkdirTemp("", "app") // short: there are sockets in it
	if err != nil {
		t.Fatal(err)
	}
	o := containerd.Options{DataDir: data, IdleExit: time.Second, AllowOldRunc: true}
	socket, err := containerd.Socket(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(data); err != nil {
			t.Error(err)
		}
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(socket); err != nil {
				return
			}
		}
		t.Errorf("the server of %s has not ended", data)
	})
	if runc, err := filepath.Abs("../../bin/runc"); err == nil {
		if _, err := os.Stat(runc); err == nil {
			o.Runc = runc
		}
	}
	return func(ctx context.Context) (app.Runtime, error) {
		r, err := containerd.Open(ctx, o)
		if err != nil {
			return nil, err
		}
		files := t.TempDir()
		write(t, filepath.Join(files, "type.sh"), read(t, "../../testdata/types/thing/type.sh"))
		write(t, filepath.Join(files, "bin", "busybox"), read(t, "/bin/busybox"))
		for _, name := range []string{"sh", "cat", "rm", "sleep"} {
			if err := os.Symlink("busybox", filepath.Join(files, "bin", name)); err != nil {
				t.Fatal(err)
			}
		}
		_, err = r.Images.Pack(ctx, imagestore.PackOptions{Reference: "test/thing", Dir: files, Entrypoint: []string{"/bin/sh", "/type.sh"}})
		return r, err
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}
