//go:build linux && amd64 && mutants

package crash_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutant is a fault in the tool, and the test that must see it.
type mutant struct {
	name, file, old, new string
	test                 string
}

func mutants() []mutant {
	return []mutant{
		{"the journal is not synced", "internal/durable/log.go", "err := l.o.sync(l.f)", "err := error(nil)", "TestPowerCut"},
		{"the state file is not synced", "internal/durable/write.go", "err = o.sync(f)", "err = nil", "TestPowerCut"},
		{"directories are not synced", "internal/durable/ops.go", "err := d.Sync(); err != nil", "err := error(nil); err != nil", "TestNamesAreSynced"},
		{"acts before the intent is on record", "apply/step.go", "err := r.journal.ActionStarted(out.addr, a.Name, key); err != nil", "err := error(nil); err != nil", "TestKilledEverywhere/all_kinds_at_1"},
		{"writes in place", "internal/durable/write.go", `f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-*")`, `f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)`, "TestKilledEverywhere/all_kinds_at_1"},
		{"removes the journal before the state is written", "state/journal.go", "noCopy := j.store.files.save(j.store.paths, next)", "_ = j.store.files.remove(j.store.paths.journal)\n\tnoCopy := j.store.files.save(j.store.paths, next)", "TestKilledEverywhere/all_kinds_at_1"},
		{"says nothing of what was in flight", "state/replay.go", "InFlight: run.inFlight, Unconfirmed", "InFlight: nil, Unconfirmed", "TestKilledEverywhere/all_kinds_at_1"},
		{"takes a failed fsync for a good one", "internal/durable/log.go", "err := l.o.sync(l.f)\n", "_ = l.o.sync(l.f)\n\terr := error(nil)\n", "TestDiskFaultsEverywhere/input/output_error_all_kinds"},
		{"tries a failed fsync again", "internal/durable/log.go", "err := l.o.sync(l.f)\n", "err := l.o.sync(l.f)\n\tif err != nil {\n\t\terr = l.o.sync(l.f)\n\t}\n", "TestDiskFaultsEverywhere/input/output_error_all_kinds"},
		{"swallows a failed write of the state file", "state/journal.go", "if noCopy != nil && !errors.Is(noCopy, ErrNoCopy) {\n\t\treturn noCopy", "if noCopy != nil && !errors.Is(noCopy, ErrNoCopy) {\n\t\treturn nil", "TestDiskFaultsEverywhere/no_space_left_on_device_all_kinds"},
	}
}

// TestTheMachineCanFail puts faults into the tool, one after the other, and
// wants the tests of this package to see each.
func TestTheMachineCanFail(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants() {
		t.Run(m.name, func(t *testing.T) {
			dir := t.TempDir()
			original := filepath.Join(root, m.file)
			source, err := os.ReadFile(original)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(source), m.old) != 1 {
				t.Fatalf("%s has %d times %q: the mutant must be brought up to date", m.file, strings.Count(string(source), m.old), m.old)
			}
			changed, overlay, binary := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "crash.test")
			content, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
			if err == nil {
				err = os.WriteFile(overlay, content, 0o600)
			}
			if err == nil {
				err = os.WriteFile(changed, []byte(strings.Replace(string(source), m.old, m.new, 1)), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("go", "test", "-vet=off", "-c", "-overlay", overlay, "-o", binary, ".").CombinedOutput(); err != nil {
				t.Fatalf("the mutant cannot be built: %v: %s", err, out)
			}
			out, err := exec.Command(binary, "-test.run", "^"+strings.ReplaceAll(m.test, "/", "$/^")+"$").CombinedOutput()
			if err == nil {
				t.Errorf("%s did not see it", m.test)
				return
			}
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, "_test.go:") {
					t.Logf("seen: %s", strings.TrimSpace(line))
					return
				}
			}
			t.Errorf("%s failed otherwise: %s", m.test, out)
		})
	}
}
