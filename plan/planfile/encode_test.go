package planfile

import (
	"bytes"
	"encoding/json"
	"testing"

	"deployster/plan"
	"deployster/plan/change"
)

// What is encoded in parts is to the byte what encoding/json writes.
func TestPlan_IsEncodedAsJSONIs(t *testing.T) {
	t.Parallel()
	none, many, broken := samplePlan(), wide(2*batch+500), wide(batch+10)
	none.Resources, none.Outputs = nil, map[string]plan.Output{`"resources":{}`: {Value: json.RawMessage(`{"resources":{}}`)}}
	many.Images[`"resources":{}`], many.Resources["<a>\u2028\xff"], many.Resources["nil"] = `"resources":{}`,
		&plan.Step{Part: &change.Valid{}}, nil
	many.Outputs["o"] = plan.Output{Value: json.RawMessage(`{"resources":{}}`)}
	broken.Resources["r7"].Config = json.RawMessage(`{`)
	for what, p := range map[string]*plan.Plan{"none": none, "a few": samplePlan(), "many": many, "broken": broken} {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		wrong := enc.Encode(NewDocument(p))
		got, err := encode(p)
		if (err == nil) != (wrong == nil) || wrong == nil && !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s: %v, not %v:\n%.2000s\nnot\n%.2000s", what, err, wrong, got, want.Bytes())
		}
	}
}
