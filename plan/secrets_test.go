package plan

import (
	"encoding/json"
	"slices"
	"testing"

	"deployster/internal/base/secret"
)

func TestSecretsAndWhereTheyComeBack(t *testing.T) {
	config := json.RawMessage(`{"login":{"pin":4711,"user":"admin","word":"hunter2!"},"on":true}`)
	secrets := secret.Values(config, []string{"/login/pin", "/login/word", "/on"})
	if want := []string{"4711", "hunter2!"}; !slices.Equal(secrets, want) {
		t.Fatalf("secrets %q, want %q", secrets, want)
	}
	if below := secret.Values(config, []string{"/login"}); !slices.Contains(below, "admin") {
		t.Errorf("a pointer to an object must cover what is in it: %q", below)
	}
	state := json.RawMessage(`{"a":["x","hunter2!"],"login":{"word":"older"},"n":4711,"ok":"fine","url":"u:hunter2!@h"}`)
	got := SensitivePointers(state, secrets, []string{"/login/word"})
	if want := []string{"/a/1", "/login/word", "/n", "/url"}; !slices.Equal(got, want) {
		t.Errorf("pointers %q, want %q", got, want)
	}
}
