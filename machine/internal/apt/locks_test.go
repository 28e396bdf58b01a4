package apt

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"deployster/machine/internal/access"
)

// The messages of a lost race for a lock: apt's, and those of two versions of dpkg.
func TestLocked_RunsAgainWhenItLosesTheRace(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		"E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (apt-get)",
		"dpkg: error: dpkg frontend lock is locked by another process",
		"dpkg: error: dpkg frontend lock was locked by another process with pid 2006",
	} {
		runs := filepath.Join(t.TempDir(), "runs")
		const script = `echo >>"$0"; [ "$(wc -l <"$0")" -gt 1 ] || { echo "$1" >&2; exit 2; }`
		err := locked(t.Context(), &access.Machine{Root: t.TempDir()}, io.Discard, "sh", "-c", script, runs, message)
		if text, failed := os.ReadFile(runs); err != nil || failed != nil || len(text) != 2 {
			t.Errorf("after %q it ran %d times: %v, %v", message, len(text), err, failed)
		}
	}
}

// A query that reads a file while somebody else changes it is repeated.
func TestCached_RepeatsWhatWasOutOfSync(t *testing.T) {
	t.Parallel()
	runs := filepath.Join(t.TempDir(), "runs")
	const script = `echo >>"$0"; [ "$(wc -l <"$0")" -gt 1 ] || {
echo "E: Cache is out of sync, can't x-ref a package file" >&2; exit 100; }; echo found`
	if out, err := cached(t.Context(), &access.Machine{Root: t.TempDir()}, "sh", "-c", script, runs); err != nil || out != "found\n" {
		t.Errorf("%q, %v", out, err)
	}
}
