package typeclient

import (
	"encoding/base64"
	"strings"
	"testing"

	"deployster/internal/base/secret"
	"deployster/internal/runtime/runner"
)

// A message has a part of what an image printed, which may begin or end in a secret.
func TestErrors_HideSecretsBeforeTheyAreCut(t *testing.T) {
	t.Parallel()
	const password = "a password of some length"
	form := base64.StdEncoding.EncodeToString([]byte("root:" + password))
	hider := secret.NewHider([]string{password})
	c := New(Options{Hide: hider.Hide})
	answer := strings.Repeat("x", answerBytes-len(form)+8) + " " + form
	failed := runner.Result{ExitCode: 3, Stderr: []byte(form + " " + strings.Repeat("y", tailBytes-len(form)/2))}
	for name, err := range map[string]error{
		"the end of an answer":   protocolError(call{}, c.o.hide([]byte(answer)), errNoSuchAnswer{}),
		"the beginning of lines": callError(call{}, c.o.hidden(failed, nil), nil),
		"an answer of another":   c.Broken(Target{}, Ask{}, []byte(answer), errNoSuchAnswer{}),
		"the end of another":     c.Ended(Target{}, Ask{Step: "put"}, failed),
	} {
		for at := range len(form) - 8 {
			if piece := form[at : at+8]; at > 8 && strings.Contains(err.Error(), piece) {
				t.Errorf("%s shows %q: %s", name, piece, err)
				break
			}
		}
	}
}

type errNoSuchAnswer struct{}

func (errNoSuchAnswer) Error() string { return "it is no JSON" }
