package reason

import "slices"

// Reason is why a plan does something, or what to know of it; nil = there is none.
type Reason struct {
	Code Code      `json:"code"`
	Refs []string  `json:"refs,omitempty"` // addresses, paths and values, in the order of the words
	And  []*Reason `json:"and,omitempty"`  // what its words contain, or what follows them
	Text string    `json:"text,omitempty"` // the words; only printed, never in a plan file
}

// Code reports what a reason is.
type Code string

// New returns a reason.
func New(code Code, refs ...string) *Reason { return &Reason{Code: code, Refs: refs} }

// With returns a reason with others that its words contain, or that follow it. nil is left out.
func (r *Reason) With(others ...*Reason) *Reason {
	out := *r
	out.And = slices.Clip(slices.Clone(r.And))
	for _, other := range others {
		if other != nil {
			out.And = append(out.And, other)
		}
	}
	return &out
}

// Common returns the first code that a resource of the list has, with all resources that
// have the same; nil = none has one.
func Common(addrs []string, code func(addr string) Code) *Reason {
	var r *Reason
	for _, addr := range addrs {
		switch is := code(addr); {
		case is == "":
		case r == nil:
			r = New(is, addr)
		case is == r.Code:
			r.Refs = append(r.Refs, addr)
		}
	}
	return r
}

// Map returns a reason with each reference changed.
func (r *Reason) Map(change func(string) string) *Reason {
	if r == nil {
		return nil
	}
	out := &Reason{Code: r.Code}
	for _, ref := range r.Refs {
		out.Refs = append(out.Refs, change(ref))
	}
	for _, other := range r.And {
		out.And = append(out.And, other.Map(change))
	}
	return out
}

// Spelled returns a reason with its words.
func (r *Reason) Spelled() *Reason {
	if r == nil {
		return nil
	}
	out := *r
	out.Text = r.Words()
	return &out
}

// Invalid reports whether a reason that was read from a file is not one that a plan can have.
func (r *Reason) Invalid() bool {
	if r == nil {
		return false
	}
	wrong := func(other *Reason) bool { return other == nil || other.Invalid() }
	return texts[r.Code] == "" || r.Text != "" || slices.ContainsFunc(r.And, wrong)
}
