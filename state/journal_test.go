package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"deployster/state/lines"
	"deployster/state/moves"
)

// crashed makes a state whose apply died after some facts, and gives the path
// and the snapshots after each fact (the first: after none).
func crashed(t *testing.T, facts int, rnd *rand.Rand) (path string, after []Snapshot) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p0")
	ok(t, j.Valid("base", entry(`{"base":true}`)), j.Finish(StatusOK))
	j = mustBegin(t, s, "p1")
	after = append(after, j.Snapshot())
	for i := range facts {
		addr := fmt.Sprintf("r%d", rnd.IntN(5))
		switch rnd.IntN(6) {
		case 5:
			if _, there := j.Snapshot().Resources[addr]; there {
				ok(t, j.Moved([]moves.Move{{From: addr, To: fmt.Sprintf("m%d", i)}}))
			} else {
				ok(t, j.Removed(addr))
			}
		case 0:
			ok(t, j.ActionStarted(Start{Address: addr, Action: "act", Key: "k"}))
		case 1:
			ok(t, j.ActionEnded(addr, "act", End{Exit: rnd.IntN(2), Reason: "because"}))
		case 2:
			ok(t, j.Removed(addr))
		case 3:
			ok(t, j.Outputs(map[string]Output{"o": {Value: json.RawMessage(fmt.Sprint(i))}}))
		default:
			ok(t, j.Valid(addr, entry(fmt.Sprintf(`{"i":%d}`, i))))
		}
		after = append(after, j.Snapshot())
	}
	ok(t, s.Close())
	return path, after
}

func contentOf(t *testing.T, s Snapshot) string {
	t.Helper()
	s.Applied, s.Serial = nil, 0
	return encoded(t, s)
}

// TestTruncatedJournal_IsAPrefix cuts a journal at every kind of place, with
// and without garbage or zeros in place of the rest, and compares what is
// loaded with the facts whose lines are whole.
func TestTruncatedJournal_IsAPrefix(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	for range 12 {
		path, after := crashed(t, 1+rnd.IntN(12), rnd)
		whole, err := os.ReadFile(path + ".journal")
		ok(t, err)
		stateFile, err := os.ReadFile(path)
		ok(t, err)
		for range 25 {
			n := rnd.IntN(len(whole) + 1)
			cut := append([]byte(nil), whole[:n]...)
			switch rnd.IntN(3) {
			case 1:
				cut = append(cut, make([]byte, rnd.IntN(200))...)
			case 2:
				cut = append(cut, []byte("xxxx garbage\n")[:rnd.IntN(14)]...)
			}
			// The begin record and each fact are one line; line k is fact k-1.
			want := max(bytes.Count(whole[:n], []byte("\n"))-1, 0)
			ok(t, os.WriteFile(path, stateFile, 0o600), os.WriteFile(path+".journal", cut, 0o600))
			got, _, err := Load(File(path))
			if err != nil {
				t.Fatalf("cut at %d of %d: %v", n, len(whole), err)
			}
			if contentOf(t, got) != contentOf(t, after[want]) {
				t.Fatalf("cut at %d of %d: loaded\n%s\nwant the first %d facts\n%s", n, len(whole), encoded(t, got), want, encoded(t, after[want]))
			}
			s := mustOpen(t, path)
			if contentOf(t, s.Snapshot()) != contentOf(t, after[want]) {
				t.Fatal("opened and loaded differ")
			}
			ok(t, s.Close())
			if again, rec, err := Load(File(path)); err != nil || rec != nil || contentOf(t, again) != contentOf(t, after[want]) {
				t.Fatalf("after folding: %+v %v", rec, err)
			}
		}
	}
}

// TestDamagedMiddle_IsRefused changes what the disk had confirmed.
func TestDamagedMiddle_IsRefused(t *testing.T) {
	t.Parallel()
	path, _ := crashed(t, 6, rand.New(rand.NewPCG(1, 2)))
	whole, err := os.ReadFile(path + ".journal")
	ok(t, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(l ...[]byte) []byte { return bytes.Join(l, nil) }
	flip := bytes.Clone(whole)
	flip[len(lines[0])+40] ^= 1
	for name, data := range map[string][]byte{
		"bit flipped":    flip,
		"first line out": join(lines[1:]...),
		"line lost":      join(append([][]byte{lines[0], lines[1]}, lines[3:]...)...),
		"lines swapped":  join(lines[0], lines[2], lines[1], lines[3], lines[4], lines[5], lines[6]),
		"line doubled":   join(lines[0], lines[1], lines[1], lines[2], lines[3], lines[4]),
		"zeros inside":   join(lines[0], make([]byte, len(lines[1])), join(lines[2:]...)),
	} {
		ok(t, os.WriteFile(path+".journal", data, 0o600))
		for range 2 {
			_, _, err := Load(File(path))
			refused(t, err, ErrDamaged)
			_, err = Open(t.Context(), File(path), Options{})
			refused(t, err, ErrDamaged)
		}
		if got, _ := os.ReadFile(path + ".journal"); !bytes.Equal(got, data) {
			t.Errorf("%s: the journal was changed", name)
		}
		if t.Failed() {
			t.Fatalf("%s was not refused", name)
		}
	}
}

// TestUnconfirmedTail_MayBeOutOfOrder: records that were written together and never confirmed
// may come to the disk in any order; nobody was told that they are stored.
func TestUnconfirmedTail_MayBeOutOfOrder(t *testing.T) {
	t.Parallel()
	parts, prev := [][]byte{}, ""
	for i, durable := range []uint64{0, 1, 2, 2, 2} {
		r := record{Seq: uint64(i + 1), Prev: prev, Durable: durable, Kind: kindRemoved, Address: "a"}
		line, err := recordLine(r)
		ok(t, err)
		prev = lines.Hash(bytes.TrimSuffix(line, []byte("\n")))
		parts = append(parts, line)
	}
	damaged := bytes.Join([][]byte{parts[0], parts[1], make([]byte, len(parts[2])), parts[3], parts[4]}, nil)
	records, dropped, err := decodeJournal(damaged)
	if err != nil || len(records) != 2 || dropped == 0 {
		t.Errorf("%d records, %d bytes dropped, %v; want the two that were confirmed", len(records), dropped, err)
	}
	damaged = bytes.Join([][]byte{parts[0], make([]byte, len(parts[1])), parts[2]}, nil)
	if _, _, err = decodeJournal(damaged); err == nil {
		t.Error("the loss of a record passed, though the one after it says that it was stored")
	}
}

// TestConcurrentFacts_SurviveACrash has many goroutines record at once; all of it is there
// after a crash.
func TestConcurrentFacts_SurviveACrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			addr := fmt.Sprintf("r%d", i)
			for _, err := range []error{j.ActionStarted(Start{Address: addr, Action: "a", Key: ""}), j.ActionEnded(addr, "a", End{}), j.Valid(addr, entry(`{}`))} {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	ok(t, s.Close())
	got, rec, err := Load(File(path))
	if err != nil || len(got.Resources) != 20 || len(rec.InFlight) != 0 || len(rec.Unconfirmed) != 0 {
		t.Errorf("%d resources, %+v, %v", len(got.Resources), rec, err)
	}
}

// TestChangedRecords_AreNeverFacts: a record whose content was changed, or that is of another
// journal, is never taken for a fact.
func TestChangedRecords_AreNeverFacts(t *testing.T) {
	t.Parallel()
	path, after := crashed(t, 4, rand.New(rand.NewPCG(7, 8)))
	whole, err := os.ReadFile(path + ".journal")
	ok(t, err)
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for at := last; at < len(whole)-1; at++ {
		for bit := range 8 {
			changed := bytes.Clone(whole)
			changed[at] ^= 1 << bit
			records, dropped, err := decodeJournal(changed)
			if err != nil || dropped == 0 || len(records) != len(after)-1 {
				t.Fatalf("bit %d of byte %d of the last record: %d records, %d dropped, %v", bit, at-last, len(records), dropped, err)
			}
		}
	}
	other, _ := crashed(t, 4, rand.New(rand.NewPCG(7, 8)))
	foreign, err := os.ReadFile(other + ".journal")
	ok(t, err)
	mine, theirs := bytes.SplitAfter(whole, []byte("\n")), bytes.SplitAfter(foreign, []byte("\n"))
	mine[2] = theirs[2]
	ok(t, os.WriteFile(path+".journal", bytes.Join(mine, nil), 0o600))
	_, _, err = Load(File(path))
	refused(t, err, ErrDamaged)
	mine[len(mine)-2], mine[2] = theirs[len(theirs)-2], bytes.SplitAfter(whole, []byte("\n"))[2]
	if records, dropped, err := decodeJournal(bytes.Join(mine, nil)); err != nil || dropped == 0 || len(records) != len(after)-1 {
		t.Errorf("a last record of another journal: %d records, %d dropped, %v", len(records), dropped, err)
	}
}

// recordLine is the line of a record.
func recordLine(r record) ([]byte, error) {
	var b bytes.Buffer
	err := lines.Encode(&b, r)
	return b.Bytes(), err
}
