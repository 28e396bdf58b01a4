package answers

import (
	"strings"
	"testing"
)

func TestReadFindings_Strict(t *testing.T) {
	t.Parallel()
	list, err := ReadFindings([]byte(`{"diagnostics":[{"severity":"warning","path":"/a/0","message":"m"},{"severity":"error","message":"n"}]}`))
	if err != nil || len(list) != 2 || list[0].Path != "/a/0" || list[0].Severity != "warning" || list[1].Message != "n" {
		t.Errorf("%v, %v", list, err)
	}
	many := strings.Repeat(`{"severity":"error","message":"n"},`, maxFindings)
	for answer, want := range map[string]string{
		`{}`: `"diagnostics" is missing`,
		`{"diagnostics":[{"severity":"fatal","message":"m"}]}`:                                            `must be "error" or "warning"`,
		`{"diagnostics":[{"severity":"error"}]}`:                                                          "message",
		`{"diagnostics":[{"severity":"error","message":"m","path":"a"}]}`:                                 "must be a JSON pointer",
		`{"diagnostics":[{"severity":"error","message":"m","config":{}}]}`:                                "config",
		`{"diagnostics":[],"config":{}}`:                                                                  "config",
		`{"diagnostics":[` + many + `{"severity":"error","message":"n"}]}`:                                "1001 entries",
		`{"diagnostics":[{"severity":"error","message":"` + strings.Repeat("m", maxPolicyText+1) + `"}]}`: "10000 bytes",
	} {
		if list, err := ReadFindings([]byte(answer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v, %v", answer, list, err)
		}
	}
}
