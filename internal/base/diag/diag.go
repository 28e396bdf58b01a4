package diag

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Severity is Error or Warning. The zero value is invalid on purpose.
type Severity int

// The severities.
const (
	Error Severity = iota + 1
	Warning
)

func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	}
	return "invalid"
}

// MarshalText writes the severity as a word in JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads it again.
func (s *Severity) UnmarshalText(text []byte) error {
	for _, known := range []Severity{Error, Warning} {
		if known.String() == string(text) {
			*s = known
			return nil
		}
	}
	return fmt.Errorf("no severity %q", text)
}

// Position is a place in a file; Line and Column count from 1, Byte from 0.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Range is a piece of a source file.
type Range struct {
	Filename string   `json:"filename"` // as the user would type it
	Start    Position `json:"start"`
	End      Position `json:"end"`
}

// String gives file:line.
func (r Range) String() string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// Snippet is the source text that a diagnostic points to.
type Snippet struct {
	Context   string `json:"context"`    // the block around it, e.g. `resource "web"`
	Code      string `json:"code"`       // one or more whole lines
	StartLine int    `json:"start_line"` // the line number of Code's first line
	// HighlightStart and HighlightEnd are byte offsets into Code.
	HighlightStart int `json:"highlight_start_offset"`
	HighlightEnd   int `json:"highlight_end_offset"`
	// Values are what the variables in the code were, sensitive ones hidden.
	Values []Value `json:"values"`
}

// Value says what a variable of an expression was: `var.size` `is "200gb"`.
type Value struct {
	Name string `json:"traversal"`
	Text string `json:"statement"`
}

// Diagnostic is one thing to tell the user.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Summary  string   `json:"summary"`           // what happened, in a few words
	Detail   string   `json:"detail"`            // the whole story, and what to do now
	Address  string   `json:"address,omitempty"` // of the resource, artifact, publish or host it is about
	Action   string   `json:"action,omitempty"`  // the step of that resource: init, state, or an action's name
	Range    *Range   `json:"range,omitempty"`
	Snippet  *Snippet `json:"snippet,omitempty"`
}

// About names what the address is of: "resource web". That of an artifact, a publish or a
// host says itself what it is.
func (d *Diagnostic) About() string {
	for _, kind := range []string{"artifact.", "publish.", "host."} {
		if strings.HasPrefix(d.Address, kind) {
			return d.Address
		}
	}
	return "resource " + d.Address
}

func (d *Diagnostic) Error() string {
	var b strings.Builder
	if d.Range != nil {
		fmt.Fprintf(&b, "%s: ", d.Range)
	}
	if d.Address != "" {
		b.WriteString(d.About())
		if d.Action != "" {
			fmt.Fprintf(&b, ", %s", d.Action)
		}
		b.WriteString(": ")
	}
	b.WriteString(d.Summary)
	if d.Detail != "" {
		b.WriteString(": " + d.Detail)
	}
	return b.String()
}

// Diagnostics is a list of them. It is an error value only when HasErrors; use
// Err to pass it on as one.
type Diagnostics []*Diagnostic

func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// HasErrors reports whether anything in the list is more than a warning.
func (ds Diagnostics) HasErrors() bool {
	for _, d := range ds {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// Err is nil when the list holds no error, else the list.
func (ds Diagnostics) Err() error {
	if !ds.HasErrors() {
		return nil
	}
	return ds
}

// Errorf makes an error without a place.
func Errorf(summary, detail string, args ...any) *Diagnostic {
	return &Diagnostic{Severity: Error, Summary: summary, Detail: fmt.Sprintf(detail, args...)}
}

// Warningf makes a warning without a place.
func Warningf(summary, detail string, args ...any) *Diagnostic {
	return &Diagnostic{Severity: Warning, Summary: summary, Detail: fmt.Sprintf(detail, args...)}
}

// From makes a list of any error: its own diagnostics where it carries some,
// else one whose summary is the given one and whose detail is the error's text.
func From(summary string, err error) Diagnostics {
	if err == nil {
		return nil
	}
	var list Diagnostics
	if reflect.TypeOf(err) == reflect.TypeOf(errors.Join(err)) {
		// Several errors that only stand side by side: each is told.
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			list = append(list, From(summary, e)...)
		}
		return list
	}
	if errors.As(err, &list) {
		return list
	}
	if one, ok := errors.AsType[*Diagnostic](err); ok {
		return Diagnostics{one}
	}
	return Diagnostics{Errorf(summary, "%s", err)}
}
