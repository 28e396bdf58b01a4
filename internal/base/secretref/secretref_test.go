package secretref

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A value goes to each place that names its secret, also within a text, and is quoted as JSON needs it.
func TestFillJSON_PutsValuesIn(t *testing.T) {
	t.Parallel()
	document := json.RawMessage(`{"a":` + quoted("x "+Text("db")+Text("db")+" y") + `,"b":[` + quoted(Text("other")) + `],"c":"⟪secret.","n":1}`)
	got, err := FillJSON(document, func(name string) (string, error) { return name + "\"\n", nil })
	if want := `{"a":"x db\"\ndb\"\n y","b":["other\"\n"],"c":"⟪secret.","n":1}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	pointers, names := Places(document)
	if !slices.Equal(pointers, []string{"/a", "/b/0"}) || !maps.EqualFunc(names, map[string][]string{"/a": {"db"}, "/b/0": {"other"}}, slices.Equal) {
		t.Errorf("places %q %q", pointers, names)
	}
	if all := All(document, document); !slices.Equal(all, []string{"db", "other"}) {
		t.Errorf("all %q", all)
	}
	failed := errors.New("no")
	if _, err := FillJSON(document, func(string) (string, error) { return "", failed }); !errors.Is(err, failed) {
		t.Errorf("an error is lost: %v", err)
	}
}

// A value is never filled in again, whatever it is.
func TestFill_TakesValuesAsTheyAre(t *testing.T) {
	t.Parallel()
	got, err := Fill(Text("a"), func(name string) (string, error) { return Text("b"), nil })
	if err != nil || got != Text("b") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWithout_LeavesOut(t *testing.T) {
	t.Parallel()
	document := json.RawMessage(`{"a":` + quoted(Text("gone")) + `,"b":[` + quoted(Text("gone")) + `,2],"c":` + quoted(Text("db")) + `}`)
	if got := Without(document, map[string]bool{"gone": true}); string(got) != `{"b":[null,2],"c":`+quoted(Text("db"))+`}` {
		t.Errorf("got %s", got)
	}
}

// Two entries with one value have different fingerprints, so that nobody sees from them that the values are equal, and a
// guess costs as much as many hashes.
func TestFingerprint_IsSaltedAndSlow(t *testing.T) {
	t.Parallel()
	one := Fingerprint("plum", "")
	two := Fingerprint("plum", "")
	if one == two {
		t.Errorf("the fingerprints of two entries are equal: %s", one)
	}
	for _, f := range []string{one, two} {
		if !Matches(f, "plum", "") || Matches(f, "pear", "") || Matches(f, "plum", "1") || strings.Contains(f, "plum") {
			t.Errorf("%s does not match as it should", f)
		}
	}
	if Matches("", "plum", "") || Matches("pbkdf2-sha256:1:"+one[strings.LastIndexByte(one, ':'):], "plum", "") {
		t.Error("what is no fingerprint matches")
	}
	if f := Fingerprint("plum", "7"); f != "version:7" || !Matches(f, "another", "7") || Matches(f, "plum", "8") || Matches(f, "plum", "") {
		t.Errorf("by version: %s", f)
	}
	parts := strings.Split(one, ":")
	salt, _ := base64.RawStdEncoding.DecodeString(parts[2])
	sum, err := pbkdf2.Key(sha256.New, "plum", salt, 200_000, sha256.Size)
	if err != nil || parts[3] != base64.RawStdEncoding.EncodeToString(sum) {
		t.Errorf("a fingerprint is not of 200,000 hashes: %s, %v", one, err)
	}
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}
