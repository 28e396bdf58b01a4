package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRestore_EachRefusalHasAWayOut: whatever became of the state file, the refusal says
// what to do, and that does it: nothing is lost then that was recorded.
func TestRestore_EachRefusalHasAWayOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(whole []byte) []byte // nil = the file is gone
		cause error
		says  string
		dies  bool // an apply has died, and its journal is there
	}{
		"empty":                   {func([]byte) []byte { return nil }, ErrDamaged, "`deployster state restore`", false},
		"empty, with a journal":   {func([]byte) []byte { return nil }, ErrDamaged, "`deployster state restore`", true},
		"zeros":                   {func(b []byte) []byte { return make([]byte, len(b)) }, ErrDamaged, "`deployster state restore`", false},
		"torn":                    {func(b []byte) []byte { return b[:len(b)/2] }, ErrDamaged, "`deployster state restore`", false},
		"torn, with a journal":    {func(b []byte) []byte { return b[:len(b)-2] }, ErrDamaged, "`deployster state restore`", true},
		"foreign":                 {func([]byte) []byte { return []byte(`{"version":4,"serial":1,"lineage":"x","resources":[]}`) }, ErrForeign, "`deployster state restore`", false},
		"foreign, with a journal": {func([]byte) []byte { return []byte(`[]`) }, ErrDamaged, "`deployster state restore`", true},
		"newer": {func(b []byte) []byte { return []byte(strings.Replace(string(b), `"format": 2`, `"format": 99`, 1)) }, ErrNewer,
			"Use the version of deployster that wrote it", false},
		"gone, with a journal": {nil, ErrDamaged, "`deployster state restore`", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.json")
			recordRun(t, path, "a")
			recordRun(t, path, "b")
			want := 2
			if c.dies {
				s := mustOpen(t, path)
				j := mustBegin(t, s, "died")
				ok(t, j.Valid("c", entry(`{}`)), s.Close()) // without Finish
				want = 3
			}
			whole, err := os.ReadFile(path)
			ok(t, err, os.Remove(path))
			if c.spoil != nil {
				ok(t, os.WriteFile(path, c.spoil(whole), 0o600))
			}
			before := everything(t, filepath.Dir(path))
			_, _, err = Load(File(path))
			refused(t, err, c.cause)
			_, err = Open(t.Context(), File(path), Options{})
			refused(t, err, c.cause)
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("the way out is not said: %v", err)
			}
			if after := everything(t, filepath.Dir(path)); after != before {
				t.Errorf("a refusal changed something: was\n%s\nis\n%s", before, after)
			}
			got, err := Restore(t.Context(), File(path), 2, Options{})
			ok(t, err)
			if got.Journal != c.dies || (got.Aside == "") != (c.spoil == nil) {
				t.Errorf("%+v", got)
			}
			s := mustOpen(t, path)
			if n := len(s.Snapshot().Resources); n != want || (s.Recovery() != nil) != c.dies {
				t.Errorf("%d resources, want %d; %+v", n, want, s.Recovery())
			}
			ok(t, s.Close())
		})
	}
}

// TestRestore_EmptyJournalIsNotInTheWay: an apply died before its journal said
// anything, and then the state file was spoiled.
func TestRestore_EmptyJournalIsNotInTheWay(t *testing.T) {
	t.Parallel()
	for _, torn := range []string{"", "0123abcd {\"se"} {
		path := filepath.Join(t.TempDir(), "s.json")
		recordRun(t, path, "a")
		ok(t, os.WriteFile(path+".journal", []byte(torn), 0o600), os.Truncate(path, 0))
		got, err := Restore(t.Context(), File(path), 1, Options{})
		ok(t, err)
		if got.Journal {
			t.Errorf("%+v", got)
		}
		s := mustOpen(t, path)
		if len(s.Snapshot().Resources) != 1 || s.Recovery() != nil {
			t.Errorf("%+v", s.Snapshot())
		}
		ok(t, s.Close())
	}
}

// TestRestore_RemovesWhatAKilledWriterLeft: it may hold secrets, and nobody needs it.
func TestRestore_RemovesWhatAKilledWriterLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.json")
	recordRun(t, path, "a")
	left := []string{".s.json.tmp-1234", "s.json.copies/.0000000001.json.tmp-99"}
	others := []string{".s.json.tmp-mine", ".other.json.tmp-1", "s.json.tmp-1", "s.json.copies/.note.tmp-1"}
	for _, name := range append(left, others...) {
		ok(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	_, _, err := Load(File(path)) // an apply may run just now
	ok(t, err)
	for _, name := range left {
		_, err := os.Stat(filepath.Join(dir, name))
		ok(t, err)
	}
	ok(t, mustOpen(t, path).Close())
	for _, name := range left {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range others {
		_, err := os.Stat(filepath.Join(dir, name))
		ok(t, err)
	}
}
