package scalars

import "testing"

func TestConvert_FollowsTheSchema(t *testing.T) {
	const schema = `{"definitions":{"n":{"type":"integer"}},"properties":{"port":{"type":"integer"},"ratio":{"type":"number"},
		"name":{"type":["string","null"]},"on":{"type":"boolean"},"env":{"additionalProperties":{"type":"string"}},
		"list":{"items":{"$ref":"#/definitions/n"}},"either":{"type":["string","integer"]},"any":{}}}`
	for _, c := range []struct{ name, from, to string }{
		{"text to a number", `{"port":"80"}`, `{"port":80}`},
		{"a number to text", `{"name":8080}`, `{"name":"8080"}`},
		{"a fraction", `{"ratio":"0.25","name":0.5}`, `{"name":"0.5","ratio":0.25}`},
		{"truth", `{"on":"true","name":false}`, `{"name":"false","on":true}`},
		{"members of a map", `{"env":{"PORT":8080,"a":"b"}}`, `{"env":{"PORT":"8080","a":"b"}}`},
		{"items by a reference", `{"list":["1",2]}`, `{"list":[1,2]}`},
		{"not an integer", `{"port":"8.5"}`, `{"port":"8.5"}`},
		{"zeros in front", `{"port":"080"}`, `{"port":"080"}`},
		{"zeros behind", `{"ratio":"1.50"}`, `{"ratio":"1.50"}`},
		{"more digits than a number keeps", `{"port":"12345678901234567"}`, `{"port":"12345678901234567"}`},
		{"an exponent", `{"ratio":"1e3"}`, `{"ratio":"1e3"}`},
		{"minus zero", `{"port":"-0"}`, `{"port":"-0"}`},
		{"a word", `{"on":"yes"}`, `{"on":"yes"}`},
		{"one of two kinds", `{"either":"1"}`, `{"either":"1"}`},
		{"no kind", `{"any":"1"}`, `{"any":"1"}`},
		{"null", `{"name":null}`, `{"name":null}`},
		{"not an object", `{"port":{"a":"1"}}`, `{"port":{"a":"1"}}`},
		{"an unknown value", `{"unknown":"1"}`, `{"unknown":"1"}`},
	} {
		var converter Converter
		for range 2 {
			if got := converter.Convert([]byte(schema), []byte(c.from), map[string]string{"/unknown": ""}); string(got) != c.to {
				t.Errorf("%s: %s", c.name, got)
			}
		}
	}
	var converter Converter
	if got := converter.Convert([]byte(schema), []byte(`{"port":"80"}`), map[string]string{"/port": "resource.a.state"}); string(got) != `{"port":"80"}` {
		t.Errorf("what stands in the place of another value was converted: %s", got)
	}
	if got := converter.Convert(nil, []byte(`{"a":1}`), nil); string(got) != `{"a":1}` {
		t.Errorf("without a schema: %s", got)
	}
}
