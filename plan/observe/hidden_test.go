package observe

import (
	"encoding/json"
	"slices"
	"testing"

	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner/typeschema"
	"deployster/protocol"
)

func TestInState_WhereSecretsComeBack(t *testing.T) {
	config := json.RawMessage(`{"login":{"pin":4711,"user":"admin","word":"hunter2!"},"on":true}`)
	secrets := secret.Values(config, []string{"/login/pin", "/login/word", "/on"})
	if want := []string{"4711", "hunter2!"}; !slices.Equal(secrets, want) {
		t.Fatalf("secrets %q, want %q", secrets, want)
	}
	if below := secret.Values(config, []string{"/login"}); !slices.Contains(below, "admin") {
		t.Errorf("a pointer to an object must cover what is in it: %q", below)
	}
	state := json.RawMessage(`{"a":["x","hunter2!"],"login":{"word":"older"},"n":4711,"ok":"fine","url":"u:hunter2!@h"}`)
	got := HiddenInState(&typeschema.Schemas{}, protocol.Type{}, state, secrets, []string{"/login/word"})
	if want := []string{"/a/1", "/login/word", "/n", "/url"}; !slices.Equal(got, want) {
		t.Errorf("pointers %q, want %q", got, want)
	}
}

func TestInState_WhatTheSchemaMarks(t *testing.T) {
	ty := protocol.Type{StateSchema: json.RawMessage(`{"properties":{"password":{"type":"string","writeOnly":true},"keys":{"additionalProperties":{"writeOnly":true}}}}`)}
	got := HiddenInState(&typeschema.Schemas{}, ty, json.RawMessage(`{"keys":{"a":"x1","b":"x2"},"name":"db","password":"generated"}`), nil, nil)
	if want := []string{"/keys/a", "/keys/b", "/password"}; !slices.Equal(got, want) {
		t.Errorf("pointers %q, want %q", got, want)
	}
}

// A type that generates a password also returns an address with it, and a key that has it.
func TestInState_WhereAGeneratedSecretIsRepeated(t *testing.T) {
	ty := protocol.Type{StateSchema: json.RawMessage(`{"properties":{"password":{"type":"string","writeOnly":true}}}`)}
	got := HiddenInState(&typeschema.Schemas{}, ty, json.RawMessage(`{"by":{"generated":1},"name":"db","password":"generated","url":"u:generated@h"}`), nil, nil)
	if want := []string{"/by", "/password", "/url"}; !slices.Equal(got, want) {
		t.Errorf("pointers %q, want %q", got, want)
	}
}
