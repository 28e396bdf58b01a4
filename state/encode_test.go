package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"deployster/state/moves"
)

// What is encoded in parts is to the byte what encoding/json writes and indents.
func TestState_IsEncodedAsJSONIs(t *testing.T) {
	t.Parallel()
	many := everyField()
	for i := range 1000 {
		many.Resources[fmt.Sprintf("r%d", i)] = entry(fmt.Sprintf(`{"n": %d, "a": ["<&>\u2028", {}, []]}`, i))
	}
	many.Resources["<a>\"\xff"] = full()
	many.Outputs["\n  \"resources\": {}"] = Output{Value: json.RawMessage(`{"resources":{}}`)}
	for what, s := range map[string]Snapshot{"none": {Format: Format, Lineage: "l"}, "every field": everyField(), "many": many} {
		canonical, err := s.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		flat := canonical
		canonical.Resources = map[string]Entry{}
		for key := range flat.Resources {
			addr, _ := moves.RecordedAt(key)
			canonical.Resources[addr] = flat.Nested(addr)
		}
		var compact, want bytes.Buffer
		enc := json.NewEncoder(&compact)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(canonical); err != nil {
			t.Fatal(err)
		}
		if err := json.Indent(&want, compact.Bytes(), "", "  "); err != nil {
			t.Fatal(err)
		}
		if got := encoded(t, s); got != want.String() {
			t.Errorf("%s:\n%.3000s\nnot\n%.3000s", what, got, want.String())
		}
	}
	many.Resources["r7"] = Entry{Config: json.RawMessage(`{`)}
	if _, err := many.Encode(); err == nil || !bytes.Contains([]byte(err.Error()), []byte("resource r7")) {
		t.Errorf("what is no JSON: %v", err)
	}
}
