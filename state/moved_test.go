package state

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A state that moves takes its copies along, and names those that it cannot read.
func TestTakeOver_NamesWhatStays(t *testing.T) {
	t.Parallel()
	here, there := filepath.Join(t.TempDir(), "s.json"), filepath.Join(t.TempDir(), "s.json")
	for _, id := range []string{"a", "b", "c"} {
		recordRun(t, here, id)
	}
	copies, err := Copies(File(here))
	ok(t, err)
	ok(t, os.WriteFile(copies[1].Path, []byte(`{"format":1`), 0o600))
	from, to := mustOpen(t, here), mustOpen(t, there)
	n, stay, err := to.TakeOver(from)
	if err != nil || n != 2 || !slices.Equal(stay, []uint64{1}) {
		t.Errorf("%d copies, %v stay, %v", n, stay, err)
	}
	ok(t, from.Close(), to.Close())
	if copies, err = Copies(File(there)); err != nil || len(copies) != 3 || copies[1].Serial != 2 || copies[2].Resources != 3 {
		t.Errorf("there are %+v, %v", copies, err)
	}
}
