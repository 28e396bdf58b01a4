package supervise

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"deployster/containerd/runfiles"
)

// A program that has printed nothing for long is not measured, until it prints again.
func TestSizes_RestWhileNothingIsPrinted(t *testing.T) {
	t.Parallel()
	var growth runfiles.Growth
	t.Cleanup(growth.Close)
	f := new(runfiles.Files)
	for name, to := range map[string]**runfiles.LogFile{"stdout": &f.Stdout, "stderr": &f.Stderr} {
		var err error
		if *to, err = runfiles.NewLogFile(filepath.Join(t.TempDir(), name), os.O_RDWR, nil); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(f.Close)
	z := newSizes(f, &growth)
	t.Cleanup(z.stop)
	due := func(limit time.Duration) bool {
		select {
		case <-z.grown:
			z.wake()
		case <-time.After(limit):
			return false
		case <-z.due.C:
			return true
		}
		return <-z.due.C != time.Time{}
	}
	print := func() {
		if _, err := f.Stderr.File.WriteString("a line\n"); err != nil {
			t.Fatal(err)
		}
	}
	if !due(time.Minute) {
		t.Fatal("it was not measured at its start")
	}
	if z.checked(); z.grown != nil || !due(time.Minute) {
		t.Error("it rests at once")
	}
	z.written = z.written.Add(-restsAfter)
	if z.checked(); z.grown == nil || due(time.Second) {
		t.Error("it is measured while it rests")
	}
	if print(); !due(time.Minute) || z.grown != nil {
		t.Error("it was not measured after it has printed")
	}
	z.written = z.written.Add(-restsAfter)
	z.size = z.now()
	print() // between the check and the rest
	if z.rest() || z.grown != nil || !due(time.Minute) {
		t.Error("it rests, although it has printed something meanwhile")
	}
	z.growth = nil
	z.size, z.written = z.now(), z.written.Add(-restsAfter)
	if z.checked(); z.grown != nil || !due(time.Minute) {
		t.Error("nobody tells when it prints again, and it is not measured")
	}
}
