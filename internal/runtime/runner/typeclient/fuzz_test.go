package typeclient

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/runner/answers"
	"deployster/protocol"
)

// FuzzAnswers gives the readers any bytes at all. They must never panic, and
// what they take must be what the image said: one document of valid UTF-8,
// whose canonical form reads as the same answer.
func FuzzAnswers(f *testing.F) {
	corpus, err := filepath.Glob(filepath.Join("testdata", "fuzz", "FuzzAnswers", "*"))
	if err != nil || len(corpus) < 20 {
		f.Fatalf("the committed corpus has %d files (%v); it must not go missing", len(corpus), err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		taken := false
		if ty, err := answers.ReadInit(data); err == nil {
			taken = true
			if ty.Protocol < protocol.MinVersion || ty.Protocol > protocol.MaxVersion {
				t.Errorf("protocol %d", ty.Protocol)
			}
		}
		for _, q := range []struct {
			version int
			intent  protocol.Intent
		}{{1, protocol.Present}, {2, protocol.Present}, {2, protocol.Absent}} {
			a, failure, err := answers.ReadAnswer(data, q.version, q.intent)
			if err != nil {
				if m := diag.Visible(err.Error()); !utf8.ValidString(m) {
					t.Errorf("message %q", m)
				}
				continue
			}
			taken = true
			sound(t, q.intent, a, failure)
			again, _, err := answers.ReadAnswer(mustCanonical(t, data), q.version, q.intent)
			if err != nil {
				t.Fatalf("the canonical form is refused: %v", err)
			}
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(again)
			if !bytes.Equal(x, y) {
				t.Errorf("reads as %s, its canonical form as %s", x, y)
			}
		}
		if taken && (!json.Valid(data) || !utf8.Valid(data)) {
			t.Errorf("took what is no JSON: %q", data)
		}
	})
}

// sound checks the promises that callers of State rely on.
func sound(t *testing.T, intent protocol.Intent, a protocol.Answer, failure *protocol.TypeError) {
	t.Helper()
	switch {
	case failure != nil:
		if failure.Class == "" || failure.Message == "" || a.Status != "" {
			t.Errorf("failure %+v, answer %+v", failure, a)
		}
	case a.Status == protocol.Valid:
		if len(a.State) == 0 || len(a.Actions) != 0 || intent == protocol.Absent {
			t.Errorf("valid: %+v", a)
		}
	case a.Status == protocol.Stale, a.Status == protocol.Missing && intent == protocol.Present:
		if len(a.Actions) == 0 || len(a.State) != 0 {
			t.Errorf("%s: %+v", a.Status, a)
		}
		if a.Status == protocol.Missing && len(a.StaleState) != 0 {
			t.Errorf("missing with a stale state: %+v", a)
		}
	case a.Status == protocol.Missing:
		if len(a.Actions) != 0 {
			t.Errorf("gone with actions: %+v", a)
		}
	default:
		t.Errorf("status %q", a.Status)
	}
}

func mustCanonical(t *testing.T, data []byte) []byte {
	t.Helper()
	c, err := jsondoc.Canonical(data)
	if err != nil {
		t.Fatalf("no canonical form of what was taken: %v", err)
	}
	return c
}

// TestCorpus_IsOfTheTables keeps the committed corpus as rich as the tables of
// answers: with DEPLOYSTER_UPDATE set it is written anew.
func TestCorpus_IsOfTheTables(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "fuzz", "FuzzAnswers")
	var all []answer
	all = append(all, inits()...)
	for _, list := range stateAnswers() {
		all = append(all, list...)
	}
	for _, a := range all {
		if len(a.says) > 2000 {
			continue
		}
		name := filepath.Join(dir, seedName(a.says))
		want := seedFile(a.says)
		if os.Getenv("DEPLOYSTER_UPDATE") != "" {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("the seed for %q is not there as it should be (%v): run with DEPLOYSTER_UPDATE=1", a.name, err)
		}
	}
}

func seedName(content string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(content)))[:16]
}

func seedFile(content string) []byte {
	return fmt.Appendf(nil, "go test fuzz v1\n[]byte(%q)\n", content)
}
