package events

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"deployster/apply"
	"deployster/plan"
)

// What writes its members itself writes what encoding/json would.
func TestFrequentEvents_EqualEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"web[\"a\"]", "disk", "", "ä<&>\u2028", "\x00\x1b[31m", "\xff"} {
		for _, body := range []Body{ResourceAsking{text, ToPlan}, ResourceAsking{text, Purpose(text)}, ResourceDecided{text, apply.OK, plan.Change(text)}, ResourceDecided{Resource: text, Status: apply.Status(text)}} {
			var b, plain bytes.Buffer
			line, err := newEvent(Debug, text, body).encode(&b, time.Unix(1, 0), nil)
			if err != nil || !json.Valid(line) || bytes.Count(line, []byte{'\n'}) != 1 {
				t.Fatalf("%q: %s, %v", text, line, err)
			}
			enc := json.NewEncoder(&plain)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(body); err != nil {
				t.Fatal(err)
			}
			if want := append([]byte(","), plain.Bytes()[1:]...); !bytes.HasSuffix(line, escaped(want)) {
				t.Errorf("%s does not end as %s", line, want)
			}
		}
	}
}
