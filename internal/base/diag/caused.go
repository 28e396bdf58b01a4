package diag

import "errors"

// Caused is a diagnostic with its cause; errors.Is and errors.As find both.
type Caused struct {
	Diagnostic *Diagnostic
	Cause      error
}

// Because returns an error for the user together with a cause by which callers can
// identify it. The detail is a format for args, as in Errorf.
func Because(cause error, summary, detail string, args ...any) error {
	return &Caused{Diagnostic: Errorf(summary, detail, args...), Cause: cause}
}

func (e *Caused) Error() string { return e.Diagnostic.Error() }

// Unwrap returns the diagnostic and the cause.
func (e *Caused) Unwrap() []error { return []error{e.Diagnostic, e.Cause} }

// At returns a copy of the error for a step of a resource.
func (e *Caused) At(address, step string) *Caused {
	d := *e.Diagnostic
	d.Address, d.Action = address, step
	return &Caused{Diagnostic: &d, Cause: e.Cause}
}

// Is reports whether an error is of a type, or wraps one that is.
func Is[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}
