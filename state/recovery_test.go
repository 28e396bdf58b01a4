package state

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestForeignJournals_AreRefused(t *testing.T) {
	t.Parallel()
	path, _ := crashed(t, 3, rand.New(rand.NewPCG(3, 4)))
	stateFile, err := os.ReadFile(path)
	ok(t, err)
	check := func(name string, cause error) {
		t.Helper()
		journal, err := os.ReadFile(path + ".journal")
		ok(t, err)
		_, _, err = Load(File(path))
		refused(t, err, cause)
		_, err = Open(t.Context(), File(path), Options{})
		refused(t, err, cause)
		if after, _ := os.ReadFile(path + ".journal"); !bytes.Equal(after, journal) || t.Failed() {
			t.Fatalf("%s", name)
		}
	}
	ok(t, os.Remove(path))
	check("the state file is gone", ErrDamaged)
	other := bytes.Replace(stateFile, []byte(`"lineage": "`), []byte(`"lineage": "0`), 1)
	ok(t, os.WriteFile(path, other, 0o600))
	check("another lineage", ErrForeign)
	other = bytes.Replace(stateFile, []byte(`"serial": 1,`), []byte(`"serial": 9,`), 1)
	ok(t, os.WriteFile(path, other, 0o600))
	check("another serial", ErrForeign)
	line, err := recordLine(record{Seq: 1, Kind: kindBegin, Begin: &begin{Format: Format + 1}})
	ok(t, err, os.WriteFile(path, stateFile, 0o600), os.WriteFile(path+".journal", line, 0o600))
	check("newer", ErrNewer)
}

func TestRecovery_ReportsWhatWasInFlight(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p1")
	ok(t,
		j.ActionStarted(Start{Address: "a", Action: "make", Key: "key-a"}),
		j.ActionStarted(Start{Address: "b", Action: "make", Key: "key-b"}), j.ActionEnded("b", "make", End{}),
		j.ActionStarted(Start{Address: "c", Action: "make", Key: "key-c"}), j.ActionEnded("c", "make", End{}), j.Valid("c", entry(`{}`)),
		s.Close())
	_, rec, err := Load(File(path))
	ok(t, err)
	check := func(rec *Recovery) {
		t.Helper()
		if rec == nil || rec.Plan != "p1" || len(rec.InFlight) != 1 || rec.InFlight[0].Address != "a" || rec.InFlight[0].Key != "key-a" {
			t.Fatalf("recovery %+v", rec)
		}
		if len(rec.Unconfirmed) != 1 || rec.Unconfirmed[0] != "b" {
			t.Errorf("unconfirmed %v", rec.Unconfirmed)
		}
		w := rec.Warning()
		if !strings.Contains(w.Detail, `"make" of a (started at `) || !strings.Contains(w.Detail, "Actions of b ") {
			t.Errorf("warning %q", w.Detail)
		}
	}
	check(rec)
	shared, err := ReadShared(t.Context(), File(path), Options{})
	ok(t, err)
	check(shared.Recovery)
	ok(t, shared.Close())
	s = mustOpen(t, path)
	check(s.Recovery())
	a, was := s.Snapshot().WasApplied("p1")
	if !was || a.Status != StatusDied || len(a.InFlight) != 1 {
		t.Errorf("applied %+v", a)
	}
	ok(t, s.Close())
	s = mustOpen(t, path)
	if s.Recovery() != nil {
		t.Error("recovered twice")
	}
	ok(t, s.Close())
}

// TestFold_IsIdempotent: a crash after the state file was replaced and before
// the journal went must change nothing.
func TestFold_IsIdempotent(t *testing.T) {
	t.Parallel()
	path, _ := crashed(t, 5, rand.New(rand.NewPCG(5, 6)))
	journal, err := os.ReadFile(path + ".journal")
	ok(t, err)
	ok(t, mustOpen(t, path).Close())
	folded, err := os.ReadFile(path)
	ok(t, err, os.WriteFile(path+".journal", journal, 0o600))
	if _, rec, err := Load(File(path)); err != nil || rec != nil {
		t.Errorf("load: %+v %v", rec, err)
	}
	s := mustOpen(t, path)
	if s.Recovery() != nil {
		t.Error("folded twice")
	}
	ok(t, s.Close())
	if again, _ := os.ReadFile(path); !bytes.Equal(again, folded) {
		t.Errorf("the state changed:\n%s\nwas\n%s", again, folded)
	}
	if _, err := os.Stat(path + ".journal"); !errors.Is(err, os.ErrNotExist) {
		t.Error("the journal is still there")
	}
}
