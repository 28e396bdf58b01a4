package daemon

import (
	"errors"
	"strings"
	"testing"

	"deployster/internal/base/diag"
)

// wantDiagnostic checks an error for its summary and for what a user can do.
func wantDiagnostic(t *testing.T, err error, texts ...string) {
	t.Helper()
	if !isDiagnostic(err) {
		t.Errorf("got %v", err)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q is not in: %v", text, err)
		}
	}
}

func isDiagnostic(err error) bool {
	var d *diag.Diagnostic
	return errors.As(err, &d) && d.Severity == diag.Error && d.Summary != "" && d.Detail != ""
}
