package config

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestIgnoreChanges_TakesThePreviousValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ignore, last  string
		config, notes string
	}{
		{`[size]`, `{"size":1,"tags":{}}`, `{"disks":[{"size":2}],"size":1,"tags":{"x":"new","y":"2"}}`, "[/size]"},
		{`[size]`, `{"size":10}`, `{"disks":[{"size":2}],"size":10,"tags":{"x":"new","y":"2"}}`, "[]"},
		{`[size]`, `{}`, `{"disks":[{"size":2}],"tags":{"x":"new","y":"2"}}`, "[/size]"},
		{`[tags["x"]]`, `{"tags":{"x":"old"}}`, `{"disks":[{"size":2}],"size":10,"tags":{"x":"old","y":"2"}}`, "[/tags/x]"},
		{`[tags.x, tags.y]`, `{"tags":{}}`, `{"disks":[{"size":2}],"size":10,"tags":{}}`, "[/tags/x /tags/y]"},
		{`[tags.x]`, `{"tags":"none"}`, `{"disks":[{"size":2}],"size":10,"tags":{"x":"new","y":"2"}}`, "[]"},
		{`[tags]`, `{"tags":"none"}`, `{"disks":[{"size":2}],"size":10,"tags":"none"}`, "[/tags]"},
		{`[disks[0].size]`, `{"disks":[{"size":1},{"size":9}]}`, `{"disks":[{"size":1}],"size":10,"tags":{"x":"new","y":"2"}}`, "[/disks/0/size]"},
		{`[disks[0].size]`, `{"disks":[]}`, `{"disks":[{"size":2}],"size":10,"tags":{"x":"new","y":"2"}}`, "[]"},
		{`all`, `{"size":1}`, `{"size":1}`, `[]`},
		{`[]`, `{"size":1}`, `{"disks":[{"size":2}],"size":10,"tags":{"x":"new","y":"2"}}`, "[]"},
		{`[size]`, ``, `{"disks":[{"size":2}],"size":10,"tags":{"x":"new","y":"2"}}`, "[]"},
	} {
		m := load(t, fmt.Sprintf(`
resource "a" {
  type   = "acme/file:1"
  config = {
    size  = 10
    tags  = { x = "new", y = "2" }
    disks = [{ size = 2 }]
  }
  lifecycle {
    ignore_changes = %s
  }
}
resource "b" {
  type   = "acme/file:1"
  config = { size = try(resource.a.config.size, 0) }
}
`, c.ignore))
		scope := States{"a": {}}
		if c.last != "" {
			scope["a"] = ResourceState{Last: &LastConfig{Value: []byte(c.last)}}
		}
		got, diags := m.Config("a", scope)
		if c.ignore == "all" {
			c.notes = "[]" // "" is how the whole is named
		}
		if len(diags) > 0 || string(got.Value) != c.config || fmt.Sprint(got.Ignored) != c.notes {
			t.Errorf("%s of %s: %s %q %v\nwant %s %s", c.ignore, c.last, got.Value, got.Ignored, diags, c.config, c.notes)
		}
		if c.ignore == "all" && (len(got.Ignored) != 1 || got.Ignored[0] != "") {
			t.Errorf("all: %q", got.Ignored)
		}
		// Who refers to the config sees the same.
		other, _ := m.Config("b", scope)
		var want struct{ Size int }
		if err := json.Unmarshal([]byte(c.config), &want); err != nil {
			t.Fatal(err)
		}
		if string(other.Value) != fmt.Sprintf(`{"size":%d}`, want.Size) {
			t.Errorf("%s of %s: the other has %s", c.ignore, c.last, other.Value)
		}
	}
}

func TestIgnoredValues_StaySecretAndKnown(t *testing.T) {
	t.Parallel()
	m := load(t, `
resource "x" {
  type = "acme/file:1"
}
resource "a" {
  type   = "acme/file:1"
  config = { password = "new", ip = resource.x.state.ip }
  lifecycle {
    ignore_changes = [password, ip]
  }
}
`)
	got, diags := m.Config("a", States{"a": {Last: &LastConfig{Value: []byte(`{"password":"old","ip":"1.2.3.4"}`), Sensitive: []string{"/password"}}}})
	if len(diags) > 0 || string(got.Value) != `{"ip":"1.2.3.4","password":"old"}` || fmt.Sprint(got.Sensitive, got.Ignored, len(got.Unknown)) != "[/password] [/ip /password] 0" {
		t.Errorf("%s %v %v %v %v", got.Value, got.Sensitive, got.Ignored, got.Unknown, diags)
	}
}
