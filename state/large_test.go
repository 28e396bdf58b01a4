package state

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/base/jsondoc"
)

// What an image may answer, and any number of such answers, can be read back:
// from the state file, and from the journal.
func TestLarge_IsReadBack(t *testing.T) {
	t.Parallel()
	// As deep as an answer may be, whose state it is; and more values, in two
	// entries, than one answer may have.
	deep := strings.Repeat("[", jsondoc.MaxDepth-1) + strings.Repeat("]", jsondoc.MaxDepth-1)
	long := "[" + strings.Repeat("1,", jsondoc.MaxNodes*5/9) + "1]"
	if err := jsondoc.Check(fmt.Appendf(nil, `{"state":%s}`, deep)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s.json")
	store, err := Open(context.Background(), File(path), Options{})
	if err != nil {
		t.Fatal(err)
	}
	j, err := store.Begin("plan", "")
	if err != nil {
		t.Fatal(err)
	}
	for addr, text := range map[string]string{"deep": deep, "a": long, "b": long} {
		doc := json.RawMessage(text)
		if err := j.Valid(addr, Entry{Type: "t", Config: json.RawMessage("{}"), State: doc}); err != nil {
			t.Fatal(err)
		}
	}
	whole := func(from string) {
		t.Helper()
		s, _, err := Load(File(path))
		if err != nil || len(s.Resources) != 3 || string(s.Resources["deep"].State) != deep || string(s.Resources["b"].State) != long {
			t.Errorf("from %s: %d resources, %.300v", from, len(s.Resources), err)
		}
	}
	whole("the journal")
	if err := j.Finish(StatusOK); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	whole("the state file")
}
