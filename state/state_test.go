package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

func entry(state string) Entry {
	return Entry{
		Type: "acme/file:1", Digest: "sha256:aa",
		Config: json.RawMessage(`{"z":1,"a":"<b>"}`), State: json.RawMessage(state),
		ValidAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

// full is an entry in which nothing is left out.
func full() Entry {
	e := entry(`{"n": 9007199254740993, "secret": "x"}`)
	e.Dependencies = []string{"disk"}
	e.Settings = runner.Settings{Network: runner.NoNetwork, Env: map[string]string{"TOKEN": "t", "A": "b"}, Memory: 1 << 20}
	e.Mounts = []runner.Mount{{Source: "/h", Target: "/c", Writable: true}}
	e.StateTimeout, e.ActionTimeout = Duration(5*time.Minute), Duration(time.Hour)
	e.PreventDestroy, e.OnRemove = true, "forget"
	e.Sensitive = Sensitive{Config: []string{"/a"}, State: []string{"/secret"}, Env: []string{"TOKEN"}}
	return e
}

func mustOpen(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), File(path), Options{Command: "deployster apply"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustBegin(t *testing.T, s *Store, plan string) *Journal {
	t.Helper()
	j, err := s.Begin(plan, s.Snapshot().Lineage)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func encoded(t *testing.T, s Snapshot) string {
	t.Helper()
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestState_RoundTrips(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deployster.state.json")
	empty, rec, err := Load(File(path))
	if err != nil || rec != nil || empty.Lineage != "" || len(empty.Resources) != 0 {
		t.Fatalf("a missing file gave %+v, %+v, %v", empty, rec, err)
	}
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p1")
	ok(t,
		j.ActionStarted(Start{Address: "web", Action: "write", Key: "k1"}),
		j.ActionEnded("web", "write", End{}),
		j.Valid("web", full()),
		j.Valid("disk", entry(`{}`)),
		j.Valid("old", entry(`{}`)),
		j.Removed("old"),
		j.Outputs(map[string]Output{"o": {Value: json.RawMessage(`[1, 2]`)}, "s": {Value: json.RawMessage(`"x"`), Sensitive: true}}),
	)
	during := j.Snapshot()
	ok(t, j.Finish(StatusOK))
	after := s.Snapshot()
	ok(t, s.Close())
	got, rec, err := Load(File(path))
	if err != nil || rec != nil {
		t.Fatalf("load: %+v %v", rec, err)
	}
	if encoded(t, got) != encoded(t, after) {
		t.Errorf("loaded\n%s\nwant\n%s", encoded(t, got), encoded(t, after))
	}
	if len(during.Resources) != 2 || len(got.Resources) != 2 || got.Serial != 1 || got.Lineage == "" {
		t.Errorf("during %d, after %d resources, serial %d", len(during.Resources), len(got.Resources), got.Serial)
	}
	if a, was := got.WasApplied("p1"); !was || a.Status != StatusOK {
		t.Errorf("applied: %+v %v", a, was)
	}
	if _, was := got.WasApplied("p2"); was {
		t.Error("p2 was never applied")
	}
	if string(got.Resources["web"].State) != `{"n":9007199254740993,"secret":"x"}` {
		t.Errorf("state %s: digits or order lost", got.Resources["web"].State)
	}
	if string(got.Outputs["o"].Value) != `[1,2]` {
		t.Errorf("output %s", got.Outputs["o"].Value)
	}
	if _, err := os.Stat(path + ".journal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal is still there: %v", err)
	}
}

func TestFile_IsStableAndReadable(t *testing.T) {
	t.Parallel()
	s := Snapshot{Format: Format, Lineage: "l", Serial: 7, Resources: map[string]Entry{"b": full(), "a": entry(`{"k":true}`)}, Outputs: map[string]Output{}}
	first := encoded(t, s)
	for range 20 {
		if encoded(t, s) != first {
			t.Fatal("the same snapshot gave other bytes")
		}
	}
	path := filepath.Join(t.TempDir(), "s.json")
	at, err := storageOf(File(path))
	ok(t, err)
	ok(t, at.save(s))
	again, err := at.snapshot()
	ok(t, err)
	if encoded(t, again) != first {
		t.Errorf("written and read again:\n%s\nwant\n%s", encoded(t, again), first)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	for _, want := range []string{"{\n  \"format\": 2,\n  \"lineage\": \"l\",\n  \"serial\": 7,\n", "\n        \"a\": \"<b>\",\n        \"z\": 1\n", `"state_timeout": "5m0s"`, "}\n"} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is not in\n%s", want, first)
		}
	}
	if !strings.HasSuffix(first, "}\n") || strings.HasSuffix(first, "\n\n") {
		t.Error("no single newline at the end")
	}
}

// refused checks that an error tells the user enough, and carries its cause.
func refused(t *testing.T, err, cause error) {
	t.Helper()
	if !errors.Is(err, cause) {
		t.Errorf("error %v, want one of %v", err, cause)
	}
	var d *diag.Diagnostic
	if !errors.As(err, &d) || d.Severity != diag.Error || len(d.Detail) < 40 {
		t.Errorf("%v is no diagnostic that says what to do", err)
	}
}

func TestLoad_RefusesInvalidFiles(t *testing.T) {
	t.Parallel()
	good := encoded(t, Snapshot{Format: Format, Lineage: "l", Serial: 1})
	for name, c := range map[string]struct {
		content string
		cause   error
	}{
		"empty":          {"", ErrDamaged},
		"blank":          {" \n", ErrDamaged},
		"zero bytes":     {"\x00\x00\x00\x00", ErrDamaged},
		"torn":           {good[:len(good)/2], ErrDamaged},
		"two documents":  {good + good, ErrDamaged},
		"trailing":       {good + "x", ErrDamaged},
		"duplicate key":  {`{"format":2,"format":2,"lineage":"l","serial":1,"resources":{},"outputs":{}}`, ErrDamaged},
		"newer":          {`{"format":3,"lineage":"l","future":true}`, ErrNewer},
		"terraform":      {`{"version":4,"terraform_version":"1.9","serial":1,"lineage":"x","outputs":{},"resources":[]}`, ErrForeign},
		"other json":     {`{"name":"package"}`, ErrForeign},
		"a list":         {`[]`, ErrDamaged},
		"format a word":  {`{"format":"1","lineage":"l","serial":1,"resources":{}}`, ErrForeign},
		"format 0":       {`{"format":0,"lineage":"l","serial":1,"resources":{}}`, ErrForeign},
		"unknown key":    {`{"format":2,"lineage":"l","serial":1,"resources":{},"outputs":{},"x":1}`, ErrDamaged},
		"no resources":   {`{"format":2,"lineage":"l","serial":1}`, ErrDamaged},
		"empty lineage":  {`{"format":2,"lineage":"","serial":1,"resources":{}}`, ErrDamaged},
		"minus serial":   {`{"format":2,"lineage":"l","serial":-1,"resources":{}}`, ErrDamaged},
		"invalid UTF-8":  {"{\"format\":2,\"lineage\":\"\xff\",\"serial\":1,\"resources\":{}}", ErrDamaged},
		"resources list": {`{"format":2,"lineage":"l","serial":1,"resources":[]}`, ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.json")
			ok(t, os.WriteFile(path, []byte(c.content), 0o600))
			_, _, err := Load(File(path))
			refused(t, err, c.cause)
			_, err = Open(t.Context(), File(path), Options{})
			refused(t, err, c.cause)
			_, err = ReadShared(t.Context(), File(path), Options{})
			refused(t, err, c.cause)
			if got, _ := os.ReadFile(path); string(got) != c.content {
				t.Errorf("the file was changed to %q", got)
			}
			// The refusal let go of the lock: the same refusal comes again.
			_, err = Open(t.Context(), File(path), Options{})
			refused(t, err, c.cause)
		})
	}
}

func TestOpen_RequiresADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "none", "s.json")
	_, _, err := Load(File(path))
	refused(t, err, os.ErrNotExist)
	_, err = Open(t.Context(), File(path), Options{})
	refused(t, err, os.ErrNotExist)
	file := filepath.Join(dir, "file")
	ok(t, os.WriteFile(file, nil, 0o600))
	if _, _, err = Load(File(filepath.Join(file, "s.json"))); err == nil {
		t.Error("a file served as a directory")
	}
	if _, _, err = Load(File(dir)); err == nil {
		t.Error("a directory served as a state file")
	}
}

func TestLineage_IsThatOfThePlan(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	j, err := s.Begin("p", "the-plans-lineage")
	ok(t, err)
	if _, err := s.Begin("p2", "the-plans-lineage"); err == nil {
		t.Error("two journals at once")
	}
	ok(t, j.Finish(StatusOK))
	if err := j.Finish(StatusOK); err == nil {
		t.Error("finished twice")
	}
	if err := j.Removed("x"); err == nil {
		t.Error("a fact after the end was taken")
	}
	_, err = s.Begin("p2", "another")
	refused(t, err, ErrForeign)
	ok(t, s.Close())
	if got, _, _ := Load(File(path)); got.Lineage != "the-plans-lineage" {
		t.Errorf("lineage %q", got.Lineage)
	}
}

func TestApplied_IsBounded(t *testing.T) {
	t.Parallel()
	base := Snapshot{Format: Format, Lineage: "l"}
	for i := range MaxApplied + 5 {
		base = newReplay(base, begin{Lineage: "l", Serial: uint64(i), Plan: "p" + string(rune('a'+i%26)), Run: NewID()}, now()).result(StatusOK)
	}
	if len(base.Applied) != MaxApplied || base.Serial != MaxApplied+5 {
		t.Errorf("%d runs, serial %d", len(base.Applied), base.Serial)
	}
}

func TestEntryHash_IgnoresTimeAndLayout(t *testing.T) {
	t.Parallel()
	want := EntryHash(full())
	same := full()
	same.ValidAt = time.Now()
	same.Config = json.RawMessage(" {\"a\" : \"\\u003cb>\", \"z\":1 }")
	if EntryHash(same) != want {
		t.Error("the same entry, written otherwise, has another hash")
	}
	path := filepath.Join(t.TempDir(), "s.json")
	at, err := storageOf(File(path))
	ok(t, err)
	ok(t, at.save(Snapshot{Format: Format, Lineage: "l", Resources: map[string]Entry{"a": full()}}))
	loaded, err := at.snapshot()
	ok(t, err)
	if EntryHash(loaded.Resources["a"]) != want {
		t.Error("the file changes the hash")
	}
	for name, change := range map[string]func(*Entry){
		"type":     func(e *Entry) { e.Type = "x" },
		"digest":   func(e *Entry) { e.Digest = "x" },
		"config":   func(e *Entry) { e.Config = json.RawMessage(`{}`) },
		"state":    func(e *Entry) { e.State = json.RawMessage(`{"n":9007199254740992,"secret":"x"}`) },
		"deps":     func(e *Entry) { e.Dependencies = nil },
		"settings": func(e *Entry) { e.Settings.Memory++ },
		"mounts":   func(e *Entry) { e.Mounts = nil },
		"timeout":  func(e *Entry) { e.ActionTimeout++ },
		"protect":  func(e *Entry) { e.PreventDestroy = false },
		"remove":   func(e *Entry) { e.OnRemove = "" },
		"mask":     func(e *Entry) { e.Sensitive.State = nil },
		"no json":  func(e *Entry) { e.State = json.RawMessage(`{`) },
	} {
		e := full()
		change(&e)
		if EntryHash(e) == want {
			t.Errorf("%s does not count", name)
		}
	}
	// What a new version of a type says of the same thing makes no plan stale, and neither does what was told of it.
	for name, change := range map[string]func(*Entry){
		"identity": func(e *Entry) { e.Identity = []string{"/other"} },
		"kind":     func(e *Entry) { e.Kind = "other" },
		"defaults": func(e *Entry) { e.Defaults = map[string]json.RawMessage{"/other": json.RawMessage(`1`)} },
		"acted":    func(e *Entry) { e.Acted++ },
		"seen":     func(e *Entry) { e.Seen = map[string]uint64{"other": 7} },
		"valid_at": func(e *Entry) { e.ValidAt = e.ValidAt.Add(time.Hour) },
	} {
		e := full()
		change(&e)
		if EntryHash(e) != want {
			t.Errorf("%s counts", name)
		}
	}
}

// A plan pins also who acted on a thing last, and when it was VALID: an equal one that was made
// since is another.
func TestPin_CoversTimeAndAction(t *testing.T) {
	t.Parallel()
	want := full().Pin()
	path := filepath.Join(t.TempDir(), "s.json")
	at, err := storageOf(File(path))
	ok(t, err)
	ok(t, at.save(Snapshot{Format: Format, Lineage: "l", Resources: map[string]Entry{"a": full()}}))
	loaded, err := at.snapshot()
	ok(t, err)
	if got := loaded.Pin("a"); got != want || loaded.Pin("b") != "" {
		t.Errorf("the file changes the pin from %s to %s", want, got)
	}
	for name, c := range map[string]struct {
		change      func(*Entry)
		same, holds bool
	}{
		"where it was": {func(e *Entry) { e.ValidAt = e.ValidAt.In(time.FixedZone("there", 3600)) }, true, true},
		"seen":         {func(e *Entry) { e.Seen = map[string]uint64{"other": 7} }, true, true},
		"acted":        {func(e *Entry) { e.Acted++ }, false, true},
		"valid_at":     {func(e *Entry) { e.ValidAt = e.ValidAt.Add(1) }, false, true},
		"digest":       {func(e *Entry) { e.Digest = "x" }, false, false},
	} {
		e := full()
		c.change(&e)
		if e.Pin() == want != c.same || e.Holds(want) != c.holds {
			t.Errorf("%s: pinned is %s, and it was %s", name, e.Pin(), want)
		}
	}
}

func TestMasked_HidesSensitiveValues(t *testing.T) {
	t.Parallel()
	s := Snapshot{Format: Format, Lineage: "l", Resources: map[string]Entry{"a": full()}, Outputs: map[string]Output{"s": {Value: json.RawMessage(`"hidden"`), Sensitive: true}}}
	before := encoded(t, s)
	shown := encoded(t, s.Masked())
	for _, secret := range []string{"<b>", `"x"`, `"t"`, "hidden"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%s is shown in\n%s", secret, shown)
		}
	}
	if !strings.Contains(shown, `"A": "b"`) || !strings.Contains(shown, "9007199254740993") {
		t.Errorf("too much is masked:\n%s", shown)
	}
	if encoded(t, s) != before {
		t.Error("masking changed the original")
	}
}

func TestInvalidDocuments_AreNotRecorded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.json")
	s := mustOpen(t, path)
	j := mustBegin(t, s, "p")
	bad := entry(`{"a":1,"a":2}`)
	if err := j.Valid("a", bad); err == nil {
		t.Error("a state with a duplicate key was recorded")
	}
	if err := j.Outputs(map[string]Output{"o": {Value: json.RawMessage(`{`)}}); err == nil {
		t.Error("an output that is no JSON was recorded")
	}
	ok(t, j.Valid("b", entry(`{}`)), j.Finish(StatusError), s.Close())
	data, err := os.ReadFile(path)
	ok(t, err)
	if !bytes.Contains(data, []byte(`"b"`)) || bytes.Contains(data, []byte(`"a": {`)) {
		t.Errorf("recorded:\n%s", data)
	}
}
