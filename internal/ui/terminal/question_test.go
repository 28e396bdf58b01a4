package terminal

import (
	"bytes"
	"strings"
	"testing"
)

// The end of the input ends no line of the terminal: what comes next begins one.
func TestConfirm_EndOfInput(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	u := New(Options{Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &stderr})
	defer u.Close()
	if yes, err := u.Confirm(t.Context(), "Apply this plan?", false); yes || err != nil || stderr.String() != "Apply this plan? [y/N] \n" {
		t.Errorf("%v, %v, %q", yes, err, stderr.String())
	}
}
