package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// deep is a block in a block in a block, each of them a list, so that what may be written
// doubles from each to the next.
func deep(levels int, leaf *Attribute) *Block {
	b := &Block{Attributes: map[string]*Attribute{"leaf": leaf}}
	for i := range levels {
		b = &Block{Attributes: map[string]*Attribute{fmt.Sprintf("at%d", i): leaf},
			Blocks: map[string]*Nested{"one": {Block: b, Mode: List}, "two": {Block: b, Mode: List, Max: 1}}}
	}
	return b
}

// plainly resolves the references of a schema: what it says without them.
func plainly(t *testing.T, text json.RawMessage) any {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	defs, _ := root["$defs"].(map[string]any)
	delete(root, "$defs")
	var resolve func(v any) any
	resolve = func(v any) any {
		switch x := v.(type) {
		case map[string]any:
			if to, ok := x["$ref"].(string); ok {
				if len(x) > 1 || defs[strings.TrimPrefix(to, "#/$defs/")] == nil {
					t.Errorf("a reference beside other words, or to nothing: %v", x)
				}
				return resolve(defs[strings.TrimPrefix(to, "#/$defs/")])
			}
			out := map[string]any{}
			for key, inner := range x {
				out[key] = resolve(inner)
			}
			return out
		case []any:
			out := make([]any, len(x))
			for i := range x {
				out[i] = resolve(x[i])
			}
			return out
		}
		return v
	}
	return resolve(root)
}

// Equal parts are written once, and the schema says what it said.
func TestShared_ReportsTheSame(t *testing.T) {
	text := &Attribute{Type: cty.String, Optional: true, Sensitive: true, Description: strings.Repeat("what it is for, ", 4)}
	for name, whole := range map[string]map[string]any{"config": deep(4, text).ForConfig(), "state": deep(4, text).ForState()} {
		long, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		short, tooLarge, err := Shared(whole)
		if err != nil || tooLarge {
			t.Fatal(err, tooLarge)
		}
		again, _, _ := Shared(whole)
		if string(again) != string(short) {
			t.Errorf("%s: a second time it is another", name)
		}
		if len(short)*4 > len(long) || !strings.Contains(string(short), `"$defs"`) {
			t.Errorf("%s: %d bytes of %d", name, len(short), len(long))
		}
		before, err1 := json.Marshal(plainly(t, long))
		after, err2 := json.Marshal(plainly(t, short))
		if err1 != nil || err2 != nil || string(before) != string(after) {
			t.Errorf("%s says something else: %s", name, short)
		}
	}
	small, _, err := Shared((&Block{Attributes: map[string]*Attribute{"a": text}}).ForConfig())
	if err != nil || strings.Contains(string(small), "$") {
		t.Errorf("what is there once is referred to: %s, %v", small, err)
	}
}

// A schema of many blocks in each other, which is large when it is written out, fits.
func TestShared_FitsWhatWouldDouble(t *testing.T) {
	short, tooLarge, err := Shared(deep(12, &Attribute{Type: cty.String, Optional: true}).ForConfig())
	if err != nil || tooLarge || len(short) > 20_000 {
		t.Errorf("%d bytes, too large %t, %v", len(short), tooLarge, err)
	}
}

// What is still too large lets all documents through, and hides what is secret.
func TestShared_TooLarge(t *testing.T) {
	for secret, want := range map[bool]string{true: `{"writeOnly":true}`, false: `{}`} {
		b := &Block{Attributes: map[string]*Attribute{}}
		for i := range 9000 {
			b.Attributes[fmt.Sprint("a", i)] = &Attribute{Type: cty.String, Optional: true, Sensitive: secret && i == 7,
				Description: fmt.Sprint(strings.Repeat("long ", 20), i)}
		}
		if text, tooLarge, err := Shared(b.ForConfig()); !tooLarge || err != nil || string(text) != want {
			t.Errorf("%d bytes, too large %t, %v", len(text), tooLarge, err)
		}
	}
}
