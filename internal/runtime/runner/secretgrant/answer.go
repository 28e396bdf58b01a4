package secretgrant

import (
	"bytes"
	"io"

	"deployster/internal/runtime/runner"
)

// hasValue is why an answer about an artifact is refused.
const hasValue = "has the value of a secret, and what an image answers is recorded: it must leave the value out"

// Forget takes an answer about an artifact that has one of the values out of a result. says reports that it is on stdout.
func (g Grant) Forget(r *runner.Result, says bool) {
	if says && g.in(r.Stdout) {
		r.Stdout = []byte("(the answer " + hasValue + ")")
	}
	if g.in(r.Answer) {
		r.Answer, r.Fault = nil, hasValue
	}
}

// Answer returns the file of an answer that is not read if it has one of the values.
func (g Grant) Answer(a *runner.Answer) *runner.Answer {
	if a == nil || a.Read == nil || !g.Any() {
		return a
	}
	checked := *a
	checked.Read = func(r io.Reader) error {
		if r == nil {
			return a.Read(nil)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if g.in(text) {
			return &runner.AnswerError{Reason: hasValue}
		}
		return a.Read(bytes.NewReader(text))
	}
	return &checked
}

// in reports whether a text has one of the values; it need not be one document.
func (g Grant) in(text []byte) bool {
	return g.holds(text) || g.hider != nil && g.hider.Holds(string(text))
}
