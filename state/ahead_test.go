package state

import (
	"os"
	"path/filepath"
	"testing"
)

// What was read ahead counts only for the very same content, and once.
func TestReadAhead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	write := func(serial uint64) {
		t.Helper()
		data, err := Snapshot{Format: Format, Lineage: "l", Serial: serial}.Encode()
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	open := func(ahead *Ahead) uint64 {
		t.Helper()
		held, err := ReadShared(t.Context(), path, Options{Command: "test", Ahead: ahead})
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
		return held.Snapshot.Serial
	}
	none := ReadAhead(path)
	<-none.done
	write(1)
	if got := open(none); got != 1 {
		t.Errorf("where there was nothing: %d", got)
	}
	same := ReadAhead(path)
	<-same.done
	same.snapshot.Serial = 100 // to tell where it comes from
	if got := open(same); got != 100 {
		t.Errorf("the same file is read twice: %d", got)
	}
	if got := open(same); got != 1 {
		t.Errorf("a second time: %d", got)
	}
	changed := ReadAhead(path)
	<-changed.done
	write(2)
	if got := open(changed); got != 2 {
		t.Errorf("of a file that changed meanwhile: %d", got)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadShared(t.Context(), path, Options{Ahead: ReadAhead(path)}); err == nil {
		t.Error("a damaged file is read")
	}
}
