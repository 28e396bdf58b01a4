package stage

import (
	"errors"
	"testing"

	"deployster/internal/base/diag"
)

// A fault that a step has met, and the end of the apply too, is told once.
func TestWithout_IsAboutTheFault(t *testing.T) {
	met := diag.Errorf("The state was taken over", "by another")
	met.Address = "web"
	other := diag.Errorf("Cannot write the report", "no room")
	err := without(errors.Join(diag.Errorf("The state was taken over", "by another"), other), diag.Diagnostics{met})
	if list := diag.From("", err); len(list) != 1 || list[0] != other {
		t.Errorf("left are %v", err)
	}
	if err := without(diag.Errorf("The state was taken over", "by another"), diag.Diagnostics{met}); err != nil {
		t.Errorf("left is %v", err)
	}
}
