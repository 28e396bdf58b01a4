package state

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"deployster/internal/base/jsondoc"
	"deployster/internal/runner"
)

// odd are texts that JSON writes in another way.
var odd = []string{"", "a\"b\\c\n", "<&>\u2028é", "bad \xff\xfe", "\u0000\u001f\u007f"}

// What is written by hand is to the byte what encoding/json writes: with each
// field alone, so that a new one is not forgotten, with all, and with odd texts.
func TestEntriesAreWrittenAsJSONIs(t *testing.T) {
	t.Parallel()
	usual := Entry{Type: "t", Digest: "d", Config: json.RawMessage(`{"a":"<\u2028>"}`), State: json.RawMessage(`{}`), ValidAt: time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC),
		Dependencies: []string{"a", "b"}, Mounts: []runner.Mount{{Source: "/s", Target: "/t"}, {Source: "/u", Target: "/v", Writable: true}}, OnRemove: "destroy"}
	entries := []Entry{{}, {Config: json.RawMessage("null")}, usual, full()}
	for i := range reflect.TypeFor[Entry]().NumField() {
		var all Entry
		fill(reflect.ValueOf(&all).Elem())
		for _, e := range []Entry{{Config: json.RawMessage(`{}`)}, usual} {
			reflect.ValueOf(&e).Elem().Field(i).Set(reflect.ValueOf(all).Field(i))
			entries = append(entries, e)
			reflect.ValueOf(&e).Elem().Field(i).SetZero()
			entries = append(entries, e)
		}
	}
	for _, text := range odd {
		e := usual
		e.Type, e.Digest, e.OnRemove, e.Dependencies, e.Mounts = text, text, text, []string{text}, []runner.Mount{{Source: text, Target: text}}
		entries = append(entries, e)
	}
	elsewhere := usual
	elsewhere.ValidAt = usual.ValidAt.In(time.FixedZone("x", 3600))
	for _, e := range append(entries, elsewhere) {
		want, err := jsondoc.Encode(e)
		ok(t, err)
		got, err := appendEntry([]byte("before "), &e)
		ok(t, err)
		if string(got) != "before "+string(want) {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	}
}

// The same of records.
func TestRecordsAreWrittenAsJSONIs(t *testing.T) {
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
		ok(t, encodeRecord(&got, r))
		if line := got.String(); line[sumSize:] != want.String() || !intact(bytes.TrimSuffix(got.Bytes(), []byte("\n"))) {
			t.Errorf("%s\nnot\n%s", line, want.String())
		}
	}
}
