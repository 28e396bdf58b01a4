package ssh

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Whoever is killed while the programs are sent or restored leaves nothing that the next one takes for the programs: what is
// in their place is whole.
func TestDial_KilledWhileItInstalls(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	r := newEnv(t, "")
	b, err := r.options.Bundle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	whole := func(dir string) bool {
		got, err := os.ReadFile(filepath.Join(dir, "deployster-host"))
		return err == nil && bytes.Equal(got, want)
	}
	begun := time.Now()
	client, err := r.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	_ = client.Close()
	const kills = 5
	for i := range time.Duration(kills) {
		at := newEnv(t, "")
		ctx, cancel := context.WithTimeout(t.Context(), took*(i+1)/kills)
		if client, err := at.dial(ctx); err == nil {
			_ = client.Close() // it was not killed before its end
		}
		cancel()
		place := filepath.Join(at.host.DataDir, "far", b.SHA256)
		if _, err := os.Stat(place); err == nil && !whole(place) {
			t.Errorf("killed after %d of %d parts: what is in the place of the programs is not whole", i+1, kills)
		}
		client, err := at.dial(t.Context())
		if err != nil {
			t.Fatalf("killed after %d of %d parts: %v", i+1, kills, err)
		}
		_ = client.Close()
		if !whole(place) {
			t.Errorf("killed after %d of %d parts: the next one has not installed them", i+1, kills)
		}
	}
}
