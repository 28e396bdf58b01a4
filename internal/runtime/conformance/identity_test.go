package conformance

import (
	"encoding/json"
	"testing"

	"deployster/internal/runtime/conformance/report"
	"deployster/protocol"
)

// What names a thing is always there, but of a type that remembers which thing is meant.
func TestIdentity_OfTypesWithMemory(t *testing.T) {
	for memory, want := range map[bool]report.Verdict{false: report.Fail, true: report.Pass} {
		i := &image{ty: protocol.Type{Memory: memory, Identity: []string{"/import"}, ConfigSchema: json.RawMessage(`{"properties":{"import":{"type":["string","null"]}}}`)}}
		if got := declaresIdentity(i); got.verdict != want {
			t.Errorf("memory %t: %v, %s", memory, got.verdict, got.reason)
		}
	}
	e := &engine{image: &image{ty: protocol.Type{Memory: true, Identity: []string{"/import"}}}}
	if got := askOther(t.Context(), e); got.verdict != report.Skip {
		t.Errorf("another name is asked for: %v", got.verdict)
	}
}
