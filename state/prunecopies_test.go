package state

import (
	"fmt"
	"path/filepath"
	"testing"
)

func TestPruneCopies_KeepsTheNewest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	for i := range 5 {
		recordRun(t, path, fmt.Sprintf("r%d", i))
	}
	serials := func() string {
		copies, err := Copies(File(path))
		ok(t, err)
		var list []uint64
		for _, c := range copies {
			list = append(list, c.Serial)
		}
		return fmt.Sprint(list)
	}
	if n, err := PruneCopies(t.Context(), File(path), 6, Options{}); err == nil || n > 0 || serials() != "[0 1 2 3 4 5]" {
		t.Errorf("a serial that the state does not have: %d, %v, %s", n, err, serials())
	}
	if n, err := PruneCopies(t.Context(), File(path), 4, Options{}); err != nil || n != 4 || serials() != "[4 5]" {
		t.Errorf("%d removed, %v, %s are left", n, err, serials())
	}
}
