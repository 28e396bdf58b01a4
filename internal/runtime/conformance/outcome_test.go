package conformance

import (
	"strings"
	"testing"

	"deployster/internal/runtime/conformance/report"
	"deployster/protocol"
)

// The fix of a failure that the image has classified is what the person has to do, and not the
// form of an answer.
func TestFailWith_FixOfAClassifiedFailure(t *testing.T) {
	t.Parallel()
	for class, want := range map[protocol.ErrorClass]string{protocol.TransientError: "start or connect", protocol.DeniedError: "credentials",
		protocol.ConfigError: "-config", protocol.BugError: fixState} {
		if got := failWith(fixState, &protocol.TypeError{Class: class, Message: "m"}); got.verdict != report.Fail || !strings.Contains(got.fix, want) {
			t.Errorf("%s: %q", class, got.fix)
		}
	}
}
