package containerd

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"deployster/containerd/bundled"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// An image that comes with deployster is used without a registry or an import, and nothing takes
// its name.
func TestBundled_IsHereByItsName(t *testing.T) {
	libexec := t.TempDir()
	t.Setenv("DEPLOYSTER_LIBEXEC", libexec)
	layout := filepath.Join(libexec, "images", "tool")
	if err := bundled.Write(layout, "tool", map[string]string{"amd64": "/bin/busybox", "arm64": "/bin/busybox"}, nil); err != nil {
		t.Fatal(err)
	}
	r := open(t, embedded(t))
	ctx := context.Background()
	image, err := r.Obtain(ctx, runner.Wanted{Reference: "deployster/tool", Pull: runner.PullAlways})
	if err != nil || image.Reference != "deployster/tool" || image.Pulled {
		t.Fatalf("%+v, %v", image, err)
	}
	found, err := r.Resolve(ctx, "deployster/tool#kind")
	if err != nil || found.Digest != image.Digest {
		t.Errorf("%+v, %v", found, err)
	}
	res, err := r.Run(ctx, runner.Spec{Name: "tool", Kind: runner.Query, Digest: image.Digest, Args: []string{"echo", "here"}, Timeout: time.Minute})
	if err != nil || string(res.Stdout) != "here\n" && res.ExitCode != 127 { // busybox takes its name for that of an applet
		t.Errorf("%+v, %v", res, err)
	}
	other := pack(t, r, imagestore.PackOptions{Reference: "docker.io/deployster/tool:1", Entrypoint: []string{"/bin/sh"}}, nil)
	if _, err := r.Images.Tag(ctx, other, []string{"deployster/tool"}); err == nil {
		t.Error("another image has its name")
	}
	if _, err := r.Images.Push(ctx, "deployster/tool", "deployster/tool"); err == nil {
		t.Error("it was pushed")
	}
	if _, err := r.Obtain(ctx, runner.Wanted{Reference: "deployster/tool:1"}); err == nil {
		t.Error("it has a tag")
	}
	if again, err := r.Resolve(ctx, "deployster/tool"); err != nil || again.Digest != image.Digest {
		t.Errorf("%+v, %v", again, err)
	}
	if there, err := r.Obtain(ctx, runner.Wanted{Reference: imagestore.WithDigest("deployster/tool", image.Digest)}); err != nil || there.Digest != image.Digest {
		t.Errorf("by its digest: %+v, %v", there, err)
	}
}
