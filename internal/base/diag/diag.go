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

// UnmarshalText reads the word that MarshalText writes.
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

// String returns file:line.
func (r Range) String() string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// Snippet is the source text that a diagnostic points to.
type Snippet struct {
	Context   string `json:"context"`    // the block around it, e.g. `resource "web"`
	Code      string `json:"code"`       // one or more whole lines
	StartLine int    `json:"start_line"` // the line number of Code's first line
	// HighlightStart and HighlightEnd are byte offsets into Code.
	HighlightStart int `json:"highlight_start_offset"`
	HighlightEnd   int `json:"highlight_end_offset"`
	// Values are the values of the variables in the code, sensitive ones hidden.
	Values []Value `json:"values"`
}

// Value is the value of a variable in an expression: `var.size` `is "200gb"`.
type Value struct {
	Name string `json:"traversal"`
	Text string `json:"statement"`
}

// Diagnostic is one message for the user.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Summary  string   `json:"summary"`           // what happened, in a few words
	Detail   string   `json:"detail"`            // the whole story, and what to do now
	Address  string   `json:"address,omitempty"` // of the resource, artifact, publish or host it refers to
	Action   string   `json:"action,omitempty"`  // the step of that resource: init, state, or an action's name
	Range    *Range   `json:"range,omitempty"`
	Snippet  *Snippet `json:"snippet,omitempty"`
}

// About returns the address with its kind: "resource web". The address of an artifact, a
// publish or a host already contains its kind.
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

// Diagnostics is a list of diagnostics. It is an error only when HasErrors; use Err to
// return it as one.
type Diagnostics []*Diagnostic

func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// HasErrors reports whether the list contains an error.
func (ds Diagnostics) HasErrors() bool {
	for _, d := range ds {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// FirstError returns the first error of a list that contains one.
func (ds Diagnostics) FirstError() *Diagnostic {
	for _, d := range ds {
		if d.Severity == Error {
			return d
		}
	}
	return ds[0]
}

// Err returns nil when the list contains no error, else the list.
func (ds Diagnostics) Err() error {
	if !ds.HasErrors() {
		return nil
	}
	return ds
}

// Errorf returns an error without a source range.
func Errorf(summary, detail string, args ...any) *Diagnostic {
	return &Diagnostic{Severity: Error, Summary: summary, Detail: fmt.Sprintf(detail, args...)}
}

// Warningf returns a warning without a source range.
func Warningf(summary, detail string, args ...any) *Diagnostic {
	return &Diagnostic{Severity: Warning, Summary: summary, Detail: fmt.Sprintf(detail, args...)}
}

// From converts any error to a list: the diagnostics that it wraps, or else one with the
// given summary, whose detail is the text of the error.
func From(summary string, err error) Diagnostics {
	if err == nil {
		return nil
	}
	var list Diagnostics
	if reflect.TypeOf(err) == reflect.TypeOf(errors.Join(err)) {
		// Several errors that are only joined: each gets its diagnostics.
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
