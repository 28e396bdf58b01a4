package answers

import (
	"strings"
	"testing"
)

func TestInit_OfNotifiers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"protocol":2,"label":"Pager","notify":{"args":["notify"]},"config_schema":{"type":"object"},"cache":false}`: "",
		`{"notify":{"entrypoint":"/send"}}`:                                    "",
		`{"notify":{}}`:                                                        "must differ from init",
		`{"notify":{"args":["notify"],"image":"acme/other"}}`:                  "another image",
		`{"notify":{"args":["notify"]},"state_action":{"args":["state"]}}`:     "exclude each other",
		`{"notify":{"args":["notify"]},"plugs":{"a":{"container_path":"/a"}}}`: `"plugs" exclude each other`,
		`{"notify":{"args":["notify"]},"reuse_actions":true}`:                  `"reuse_actions" exclude each other`,
		`{"notify":{"args":["notify"]},"reuse":true}`:                          `"reuse" exclude each other`,
		`{"notify":{"args":["notify"],"more":1}}`:                              "notify.more",
		`{"notify":["notify"]}`:                                                "must be an object",
		`{"protocol":1,"notify":{"args":["notify"]}}`:                          "belongs to protocol 2",
	} {
		ty, err := ReadInit([]byte(answer))
		if want == "" && (err != nil || ty.Notify == nil) {
			t.Errorf("%s: %v, %v", answer, ty.Notify, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, and %q was wanted", answer, err, want)
		}
	}
}
