package machineid

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestOf_IsOneForAll(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	ids := make([]string, 32)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			id, err := Of(dir)
			if err != nil {
				t.Error(err)
			}
			ids[i] = id
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] || id == "" {
			t.Fatalf("%q", ids)
		}
	}
	if left, _ := filepath.Glob(dir + "/id.*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	other, err := Of(t.TempDir())
	if err != nil || other == ids[0] {
		t.Errorf("two data directories are one machine: %q, %v", other, err)
	}
}

// A name of any form that is there counts; none is an error, and not another machine.
func TestOf_KeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content, want string
		fails               bool
	}{
		{"of another form", "4be1f0c2-7d1e-4b7e-9a44-1b3c5d7e9f00\n", "4be1f0c2-7d1e-4b7e-9a44-1b3c5d7e9f00", false},
		{"empty", "\n", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "id"), []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if id, err := Of(dir); id != c.want || (err != nil) != c.fails {
				t.Errorf("%q, %v", id, err)
			}
		})
	}
}
