package ocidir

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/errdefs"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/contents"
)

func open(t *testing.T, dir string) contents.Conn {
	t.Helper()
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Client.Close() })
	return c
}

func put(t *testing.T, c contents.Conn, text string) ocispec.Descriptor {
	t.Helper()
	d := ocispec.Descriptor{MediaType: "text/plain", Digest: digest.FromString(text), Size: int64(len(text))}
	if err := content.WriteBlob(c.Context(t.Context()), c.Client.ContentStore(), text, bytes.NewReader([]byte(text)), d); err != nil {
		t.Fatal(err)
	}
	return d
}

// What one process names, another finds: an image has its target and its labels, and moves as containerd's do.
func TestNames_AreSharedByProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, other := open(t, dir), open(t, dir)
	ctx := one.Context(t.Context())
	mine, theirs := one.Client.ImageService(), other.Client.ImageService()
	first, second := put(t, one, "one"), put(t, other, "two")
	if _, err := mine.Create(ctx, images.Image{Name: "a", Target: first, Labels: map[string]string{"from": "x", "by": "y"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := theirs.Create(ctx, images.Image{Name: "a", Target: second}); !errdefs.IsAlreadyExists(err) {
		t.Errorf("created twice: %v", err)
	}
	if _, err := theirs.Update(ctx, images.Image{Name: "a", Labels: map[string]string{"from": "z"}}, "labels.from"); err != nil {
		t.Error(err)
	}
	if _, err := theirs.Update(ctx, images.Image{Name: "a", Target: second}, "target"); err != nil {
		t.Error(err)
	}
	if _, err := theirs.Update(ctx, images.Image{Name: "b", Target: second}); !errdefs.IsNotFound(err) {
		t.Errorf("updated what is not there: %v", err)
	}
	got, err := mine.Get(ctx, "a")
	if err != nil || got.Target.Digest != second.Digest || got.Labels["from"] != "z" || got.Labels["by"] != "y" || got.CreatedAt.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	for filter, want := range map[string]int{"target.digest==" + second.Digest.String(): 1, "target.digest==" + first.Digest.String(): 0, "name==a": 1} {
		if list, err := mine.List(ctx, filter); err != nil || len(list) != want {
			t.Errorf("%s: %d, %v", filter, len(list), err)
		}
	}
	if err := mine.Delete(ctx, "b"); !errdefs.IsNotFound(err) {
		t.Errorf("deleted what is not there: %v", err)
	}
}

// The last removal of an image removes what no image needs, but nothing that a pull of another process may have fetched.
func TestDelete_KeepsWhatIsYoungOrNeeded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := open(t, dir)
	ctx := c.Context(t.Context())
	gone, kept, again, young := put(t, c, "gone"), put(t, c, "kept"), put(t, c, "again"), put(t, c, "young")
	long := time.Now().Add(-2 * tooYoung)
	for _, d := range []ocispec.Descriptor{gone, kept, again} {
		if err := os.Chtimes(filepath.Join(dir, "blobs", "sha256", d.Digest.Encoded()), long, long); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Client.ContentStore().Writer(ctx, content.WithRef("again"), content.WithDescriptor(again)); !errdefs.IsAlreadyExists(err) {
		t.Fatalf("written twice: %v", err)
	}
	service := c.Client.ImageService()
	for name, target := range map[string]ocispec.Descriptor{"a": gone, "b": kept} {
		if _, err := service.Create(ctx, images.Image{Name: name, Target: target}); err != nil {
			t.Fatal(err)
		}
	}
	if err := service.Delete(ctx, "a", images.SynchronousDelete()); err != nil {
		t.Fatal(err)
	}
	var left []string
	err := c.Client.ContentStore().Walk(ctx, func(i content.Info) error {
		left = append(left, i.Digest.String())
		return nil
	})
	want := []string{kept.Digest.String(), again.Digest.String(), young.Digest.String()}
	slices.Sort(left)
	slices.Sort(want)
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("left %v, want %v, %v", left, want, err)
	}
}

const tooYoung = young // the tests have a variable of that name

// Of two processes that fetch the same content one waits, and the other's content is not torn.
func TestWriter_OneProcessAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, other := open(t, dir), open(t, dir)
	ctx := one.Context(t.Context())
	text := []byte("text")
	d := ocispec.Descriptor{Digest: digest.FromBytes(text), Size: int64(len(text))}
	w, err := one.Client.ContentStore().Writer(ctx, content.WithRef("layer"), content.WithDescriptor(d))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Client.ContentStore().Writer(ctx, content.WithRef("layer"), content.WithDescriptor(d)); !errdefs.IsUnavailable(err) {
		t.Errorf("beside another: %v", err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Commit(ctx, d.Size, d.Digest), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Client.ContentStore().Writer(ctx, content.WithRef("layer"), content.WithDescriptor(d)); !errdefs.IsAlreadyExists(err) {
		t.Errorf("after the other: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, locks)); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
