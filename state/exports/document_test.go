package exports

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"filippo.io/age"

	"deployster/internal/base/encryption"
	"deployster/state/content"
)

func snapshot() content.Snapshot {
	return content.Snapshot{Lineage: "l", Serial: 7, Exports: &content.Exports{}, Outputs: map[string]content.Output{
		"vpc":    {Value: json.RawMessage(`"v-1"`), Export: true},
		"token":  {Value: json.RawMessage(`"hunter2"`), Export: true, Sensitive: true},
		"hidden": {Value: json.RawMessage(`"mine"`)},
	}, Applied: []content.Applied{{Status: content.StatusOK}, {Status: content.StatusIncomplete}}}
}

// Only what is marked is published, with the serial of the state and the status of its last run.
func TestOf_HasNothingButExportedOutputs(t *testing.T) {
	t.Parallel()
	d, publishes := Of(snapshot())
	if !publishes || len(d.Outputs) != 2 || d.Serial != 7 || d.Lineage != "l" || d.Status != content.StatusIncomplete {
		t.Fatalf("%+v", d)
	}
	data, err := d.Encode(nil)
	if err != nil || bytes.Contains(data, []byte("mine")) {
		t.Fatalf("%s, %v", data, err)
	}
	back, err := Decode("x", data, nil)
	if err != nil || string(back.Outputs["vpc"].Value) != `"v-1"` || !back.Outputs["token"].Sensitive || back.Outputs["vpc"].Sensitive {
		t.Errorf("%+v, %v", back, err)
	}
	for _, change := range []func(*content.Snapshot){
		func(s *content.Snapshot) { s.Exports = nil },
		func(s *content.Snapshot) { s.ArrivesFrom = "elsewhere" },
	} {
		s := snapshot()
		change(&s)
		if d, publishes := Of(s); publishes {
			t.Errorf("it publishes %+v", d)
		}
	}
}

// What is published is refused unless it is to the byte what was written, and of the version that it says without a key.
func TestDecode_RefusesDamage(t *testing.T) {
	t.Parallel()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	ring := func(keys encryption.Keys) *encryption.Keyring {
		return encryption.New(encryption.Encrypt, func() (encryption.Keys, error) { return keys, nil })
	}
	d, _ := Of(snapshot())
	for name, keys := range map[string][2]*encryption.Keyring{
		"clear": {},
		"encrypted": {ring(encryption.Keys{Recipients: []string{id.Recipient().String()}}),
			ring(encryption.Keys{Identities: []encryption.Identities{{Name: "k", Content: []byte(id.String())}}})},
	} {
		data, err := d.Encode(keys[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode("x", data, keys[1]); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !Is(data, "l", 7) || Is(data, "l", 8) || Is(data, "m", 7) || Is(data[1:], "l", 7) {
			t.Errorf("%s: its version cannot be read without a key", name)
		}
		if bytes.Contains(data, []byte("hunter2")) != (name == "clear") {
			t.Errorf("%s: %s", name, data)
		}
		for i := range data {
			spoiled := bytes.Clone(data)
			spoiled[i] ^= 1
			if got, err := Decode("x", spoiled, keys[1]); err == nil {
				t.Fatalf("%s: byte %d changed %q, and it is read as %+v", name, i, data[i], got)
			}
		}
		if _, err := Decode("x", data[:len(data)/2], keys[1]); !errors.Is(err, content.ErrDamaged) {
			t.Errorf("%s, half of it: %v", name, err)
		}
		other := bytes.Replace(data, []byte(`"serial":7`), []byte(`"serial":9`), 1)
		if _, err := Decode("x", other, keys[1]); !errors.Is(err, content.ErrDamaged) {
			t.Errorf("%s, of another version: %v", name, err)
		}
		newer := bytes.Replace(data, []byte(`"format":1`), []byte(`"format":2`), 1)
		if _, err := Decode("x", newer, keys[1]); !errors.Is(err, content.ErrNewer) || !strings.Contains(err.Error(), "newer") {
			t.Errorf("%s, newer: %v", name, err)
		}
	}
	data, _ := d.Encode(ring(encryption.Keys{Recipients: []string{id.Recipient().String()}}))
	if _, err := Decode("x", data, nil); !errors.Is(err, encryption.ErrNoKey) {
		t.Errorf("without a key: %v", err)
	}
}
