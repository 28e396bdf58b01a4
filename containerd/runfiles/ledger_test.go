package runfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"deployster/containerd/layout"
	"deployster/internal/runtime/runner"
)

// A ledger stays short, however much is asked, and says what is open, also when
// its writer died over a line.
func TestLedger_StaysShortAndListsOpenRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := newLedger(dir)
	outcomes := Outcomes(filepath.Join(dir, "outcomes"))
	if err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n <= 20_000; n++ {
		if err := l.Ask(outcomes, n, runner.Spec{ID: fmt.Sprint(n), Name: "x"}); err != nil {
			t.Fatal(err)
		}
		if n%5000 != 0 {
			if err := l.Settle(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := l.file.WriteString(`{"request":7,"ac`); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if i, err := os.Stat(l.path); err != nil || i.Size() > 2*maxLedger {
		t.Errorf("%v, %v", i, err)
	}
	if err := SettleAbandoned(dir, []int64{5000}); err != nil {
		t.Error(err)
	}
	open, err := ReadLedger(dir)
	if err != nil || len(open) != 3 || open[20_000].Action != layout.ActionName("20000") {
		t.Errorf("%+v, %v", open, err)
	}
}
