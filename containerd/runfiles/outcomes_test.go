package runfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What nobody comes for is kept for a while, and not for ever.
func TestOutcomes_ArePruned(t *testing.T) {
	t.Parallel()
	o := Outcomes(filepath.Join(t.TempDir(), "outcomes"))
	if err := o.Prune(); err != nil {
		t.Fatal(err)
	}
	if !o.Pruned().IsZero() {
		t.Error("nothing was removed, and it says so")
	}
	began := time.Now().Add(-time.Second) // clocks of file systems are coarse
	for i := range maxOutcomes + 3 {
		if err := os.MkdirAll(string(o), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(o.path(fmt.Sprint(i)), []byte(`{"fate":"exited","code":3}`), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-time.Duration(i) * time.Minute)
		if i == 1 {
			at = time.Now().Add(-outcomeAge - time.Hour)
		}
		if err := os.Chtimes(o.path(fmt.Sprint(i)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Prune(); err != nil {
		t.Fatal(err)
	}
	if o.Pruned().Before(began) {
		t.Errorf("it says that the last one was removed at %s", o.Pruned())
	}
	for i, want := range map[int]bool{0: true, 1: false, 2: true, maxOutcomes - 1: true, maxOutcomes + 1: false, maxOutcomes + 2: false} {
		if _, there, err := o.Load(fmt.Sprint(i)); there != want || err != nil {
			t.Errorf("%d is there: %v, %v", i, there, err)
		}
	}
	if err := os.WriteFile(o.path("bad"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.Load("bad"); err == nil {
		t.Error("a damaged outcome was read")
	}
}
