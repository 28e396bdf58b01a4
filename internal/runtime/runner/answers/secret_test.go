package answers

import (
	"strings"
	"testing"

	"deployster/internal/base/secretref"
)

func TestReadSecret_RefusesOtherAnswers(t *testing.T) {
	t.Parallel()
	s, err := ReadSecret([]byte(`{"value":"pear-canary","version":"7","expires":"2026-11-21T03:53:28Z"}`))
	if err != nil || s.Value != "pear-canary" || s.Version != "7" || s.Expires.IsZero() {
		t.Errorf("%+v %v", s, err)
	}
	for _, bad := range []string{`{"value":""}`, `{}`, `{"value":"a\u0000"}`, `{"value":"pear-canary","version":"pear-canary"}`, `{"value":"pear-canary","x":1}`,
		`{"value":"pear-canary","expires":"soon"}`, `{"value":7}`, `{"value":"pear-canary","version":"a\nb"}`, `{"value":"` + secretref.Text("a") + `"}`} {
		if s, err := ReadSecret([]byte(bad)); err == nil || strings.Contains(err.Error(), "pear") || s.Value != "" {
			t.Errorf("%s: %+v %v", bad, s, err)
		}
	}
}
