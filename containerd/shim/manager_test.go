package shim

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/containerd/containerd/v2/pkg/namespaces"
)

// Only a container that runc is known to have deleted is left alone.
func TestDeleted_OnlyWithAnAnswerOfRunc(t *testing.T) {
	t.Parallel()
	ctx := namespaces.WithNamespace(context.Background(), "ns")
	bundle, root := t.TempDir(), t.TempDir()
	options := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bundle, "options.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if deleted(ctx, bundle, "c") {
		t.Error("deleted, where nobody knows what runc's directory is")
	}
	options(`{"binary_name":"runc"}`)
	if deleted(ctx, bundle, "c") {
		t.Error("deleted, where runc has a directory of its own choice")
	}
	options(`{"root":`)
	if deleted(ctx, bundle, "c") {
		t.Error("deleted, with options that cannot be read")
	}
	options(`{"root":"` + root + `"}`)
	if !deleted(ctx, bundle, "c") || deleted(context.Background(), bundle, "c") {
		t.Error("not deleted, where runc has nothing of it; or deleted in no namespace")
	}
	if err := os.MkdirAll(filepath.Join(root, "ns", "c"), 0o700); err != nil {
		t.Fatal(err)
	}
	if deleted(ctx, bundle, "c") || !deleted(ctx, bundle, "d") {
		t.Error("deleted, while runc has its directory; or another is not")
	}
}
