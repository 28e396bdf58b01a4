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
	pkg, test            string // the directory of the test, from that of the module
}

func mutants() []mutant {
	const here = "internal/crash"
	return []mutant{
		{"the journal is not synced", "internal/durable/log.go", "err := l.o.sync(l.f)", "err := error(nil)", here, "TestPowerCut"},
		{"the state file is not synced", "internal/durable/write.go", "err = o.sync(f)", "err = nil", here, "TestPowerCut"},
		{"directories are not synced", "internal/durable/ops.go", "err := d.Sync(); err != nil", "err := error(nil); err != nil", here, "TestNamesAreSynced"},
		{"acts before the intent is on record", "apply/step.go", "err := r.journal.ActionStarted(out.addr, a.Name, key); err != nil", "err := error(nil); err != nil", here, "TestKilledEverywhere/all_kinds_at_1"},
		{"writes in place", "internal/durable/write.go", `f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-*")`, `f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)`, here, "TestKilledEverywhere/all_kinds_at_1"},
		{"removes the journal before the state is written", "state/journal.go", "noCopy := j.store.files.save(j.store.paths, next)", "_ = j.store.files.remove(j.store.paths.journal)\n\tnoCopy := j.store.files.save(j.store.paths, next)", here, "TestKilledEverywhere/all_kinds_at_1"},
		{"says nothing of what was in flight", "state/replay.go", "InFlight: run.inFlight, Unconfirmed", "InFlight: nil, Unconfirmed", here, "TestKilledEverywhere/all_kinds_at_1"},
		{"takes a failed fsync for a good one", "internal/durable/log.go", "err := l.o.sync(l.f)\n", "_ = l.o.sync(l.f)\n\terr := error(nil)\n", here, "TestDiskFaultsEverywhere/input/output_error_all_kinds"},
		{"tries a failed fsync again", "internal/durable/log.go", "err := l.o.sync(l.f)\n", "err := l.o.sync(l.f)\n\tif err != nil {\n\t\terr = l.o.sync(l.f)\n\t}\n", here, "TestDiskFaultsEverywhere/input/output_error_all_kinds"},
		{"swallows a failed write of the state file", "state/journal.go", "if noCopy != nil && !errors.Is(noCopy, ErrNoCopy) {\n\t\treturn noCopy", "if noCopy != nil && !errors.Is(noCopy, ErrNoCopy) {\n\t\treturn nil", here, "TestDiskFaultsEverywhere/no_space_left_on_device_all_kinds"},
		{"takes the loss of the server for the exit code 255", "containerd/wait.go", "\t\t\tif !errdefs.IsUnavailable(err) || ctx.Err() != nil {", "\t\t\tif errdefs.IsUnavailable(err) {\n\t\t\t\tc <- exit{code: 255}\n\t\t\t\treturn\n\t\t\t}\n\t\t\tif !errdefs.IsUnavailable(err) || ctx.Err() != nil {", "containerd", "TestServerIsKilled/embedded"},
		{"does not adopt what still runs", "internal/cli/recover.go", "if len(snapshot.Unknown()) == 0 {", "if true {", ".", "TestKilledWithContainers/made_and_changed"},
	}
}

// TestTheMachineCanFail puts faults into the tool, one after the other, and
// wants the tests to see each.
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
			if out, err := exec.Command("go", "test", "-vet=off", "-c", "-overlay", overlay, "-o", binary, filepath.Join(root, m.pkg)).CombinedOutput(); err != nil {
				t.Fatalf("the mutant cannot be built: %v: %s", err, out)
			}
			test := exec.Command(binary, "-test.run", "^"+strings.ReplaceAll(m.test, "/", "$/^")+"$")
			test.Dir = filepath.Join(root, m.pkg)
			out, err := test.CombinedOutput()
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
