package planfile

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"deployster/plan"
)

var update = flag.Bool("update", false, "write the fixture of the present format anew")

// TestPlanFormat_IsPinned: what plan files hold cannot change without a new
// number. A plan of another format is refused, so there is a fixture of the
// present one only.
func TestPlanFormat_IsPinned(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join("testdata", fmt.Sprintf("plan-format-%d.bin", plan.Format)), written(t, samplePlan())
	if *update {
		if err := os.WriteFile(path, now, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const what = "the format of plan files has changed: give it a higher Format and a fixture. Before the first release: go test ./plan/planfile -run TestPlanFormat_IsPinned -update"
	p, err := read(file)
	if err != nil || !reflect.DeepEqual(p, samplePlan()) {
		t.Errorf("%s\nread %+v, %v", what, p, err)
	}
	// The entries are compared, not the bytes: those are the compressor's.
	was, _ := partsOf(t, file)
	is, _ := partsOf(t, now)
	if len(was) != len(is) {
		t.Fatalf("%d entries, were %d: %s", len(is), len(was), what)
	}
	for i := range is {
		if was[i].name != is[i].name || !bytes.Equal(was[i].content, is[i].content) {
			t.Errorf("%s is\n%s\nwas %s\n%s\n%s", is[i].name, is[i].content, was[i].name, was[i].content, what)
		}
	}
}
