package secret

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestMask_ReplacesValuesAtPointers(t *testing.T) {
	t.Parallel()
	const doc = `{"a":{"b":[1,{"c":"s"}],"x/y~z":2},"n":9007199254740993}`
	for _, c := range []struct {
		pointers []string
		want     string
	}{
		{nil, doc},
		{[]string{""}, `"(sensitive value)"`},
		{[]string{"/a/b/1/c"}, `{"a":{"b":[1,{"c":"(sensitive value)"}],"x/y~z":2},"n":9007199254740993}`},
		{[]string{"/a/x~1y~0z", "/a/b"}, `{"a":{"b":"(sensitive value)","x/y~z":"(sensitive value)"},"n":9007199254740993}`},
		{[]string{"/none", "/a/b/9", "/a/b/-1", "/n/deeper", "/a/b/x"}, doc},
		{[]string{"/a", "/a/b"}, `{"a":"(sensitive value)","n":9007199254740993}`},
	} {
		if got := string(Mask(json.RawMessage(doc), c.pointers)); got != c.want {
			t.Errorf("%v: %s, want %s", c.pointers, got, c.want)
		}
	}
	if got := string(Mask(json.RawMessage(`{"secret`), []string{"/a"})); strings.Contains(got, "secret") {
		t.Errorf("what cannot be read is shown: %s", got)
	}
}
