package state

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"deployster/state/moves"
)

func TestDeposedKey_HasAddressAndNumber(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]struct {
		addr   string
		number int
	}{
		"s[0] (deposed 1)":               {"s[0]", 1},
		`s["a b"] (deposed 12)`:          {`s["a b"]`, 12},
		"s[0]":                           {"s[0]", 0},
		"s[0] (deposed 0)":               {"s[0] (deposed 0)", 0},
		"s[0] (deposed -1)":              {"s[0] (deposed -1)", 0},
		"s[0] (deposed 1":                {"s[0] (deposed 1", 0},
		`s["x (deposed 1)"]`:             {`s["x (deposed 1)"]`, 0},
		`s["x (deposed 1)"] (deposed 2)`: {`s["x (deposed 1)"]`, 2},
		"s[0] (deposed 1) again":         {"s[0] (deposed 1) again", 0},
	} {
		if addr, number := moves.RecordedAt(key); addr != want.addr || number != want.number {
			t.Errorf("%s: %q, %d, want %+v", key, addr, number, want)
		}
	}
	taken := map[string]bool{moves.DeposedKey("s", 1): true, moves.DeposedKey("s", 3): true}
	if key := moves.Depose("s", func(key string) bool { return taken[key] }); key != "s (deposed 2)" {
		t.Errorf("the first free key is %q", key)
	}
}

// What is deposed stands in the entry of its address, which need not have a thing of
// its own, and comes back under its key and number.
func TestDeposed_IsNestedInFiles(t *testing.T) {
	t.Parallel()
	s := Snapshot{Format: Format, Lineage: "l", Resources: map[string]Entry{
		"b": entry(`{}`), "b (deposed 3)": entry(`{"n":3}`), "b (deposed 1)": entry(`{"n":1}`), "gone (deposed 2)": incompleteEntry()}}.Clone()
	content := encoded(t, s)
	if strings.Contains(content, "(deposed") || strings.Index(content, `"number": 1`) > strings.Index(content, `"number": 3`) {
		t.Errorf("written as\n%s", content)
	}
	got, err := Parse("s", []byte(content))
	ok(t, err)
	if want, err := s.Canonical(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, want %+v, %v", got, want, err)
	}
}

func TestDeposed_OddFilesAreRefused(t *testing.T) {
	t.Parallel()
	one := `"type":"t","digest":"d","config":{}`
	for name, deposed := range map[string]string{
		"no number":      `{` + one + `}`,
		"the same twice": `{"number":1,` + one + `},{"number":1,` + one + `}`,
		"one in another": `{"number":1,` + one + `,"deposed":[{"number":1,` + one + `}]}`,
	} {
		path := filepath.Join(t.TempDir(), "s.json")
		ok(t, os.WriteFile(path, []byte(`{"format":2,"lineage":"l","serial":1,"resources":{"a":{"deposed":[`+deposed+`]}},"outputs":{}}`), 0o600))
		if _, _, err := Load(File(path)); err == nil {
			t.Errorf("%s: was read", name)
		}
	}
}

// A move speaks of what stands at an address, and of what was deposed there only by
// its own key.
func TestDeposed_Moves(t *testing.T) {
	t.Parallel()
	s := Snapshot{Resources: map[string]Entry{"a": entry(`{}`), "a (deposed 1)": entry(`{}`), "module.m.a (deposed 1)": entry(`{}`)}}
	for _, c := range []struct{ from, to, want string }{
		{"a", "b", "a>b"},
		{"a (deposed 1)", "b", "a (deposed 1)>b"},
		{"module.m", "module.n", ""},
	} {
		list, err := s.Resolve([]moves.Rule{{From: c.from, To: c.to}})
		ok(t, err)
		var got []string
		for _, m := range list {
			got = append(got, m.From+">"+m.To)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s to %s: %v", c.from, c.to, got)
		}
	}
}
