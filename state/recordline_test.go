package state

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"deployster/state/lines"
)

// odd are texts that JSON writes in another way.
var odd = []string{"", "a\"b\\c\n", "<&>\u2028é", "bad \xff\xfe", "\u0000\u001f\u007f"}

// The line of a record is its checksum and what encoding/json writes.
func TestRecords_AreWrittenAsJSONIs(t *testing.T) {
	t.Parallel()
	exit := 0
	records := append(everyFact(), record{}, record{Exit: &exit, Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("x", 60))})
	for i := range reflect.TypeFor[record]().NumField() {
		var all record
		fill(reflect.ValueOf(&all).Elem())
		r := record{Seq: 7, Prev: "p", Kind: kindEnded}
		reflect.ValueOf(&r).Elem().Field(i).Set(reflect.ValueOf(all).Field(i))
		records = append(records, r)
	}
	for _, text := range odd {
		records = append(records, record{Prev: text, Kind: kind(text), Address: text, Action: text, Key: text, Reason: text})
	}
	for _, r := range records {
		var want, got bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		ok(t, enc.Encode(r))
		ok(t, lines.Encode(&got, r))
		_, intact := lines.Body(bytes.TrimSuffix(got.Bytes(), []byte("\n")))
		if line := got.String(); line[lines.SumSize:] != want.String() || !intact {
			t.Errorf("%s\nnot\n%s", line, want.String())
		}
	}
}
