package typeclient

import "github.com/santhosh-tekuri/jsonschema/v6"

// maxSteps is how many times schemas may be held to values in one check. The
// library keeps what it finds on the way, so this bounds memory too. An honest
// document has fewer values than that.
const maxSteps = 200_000

// meter counts the steps of a check. The library has no way to be stopped, but
// calls a vocabulary of ours at each step.
type meter struct {
	left int
}

// spent is what ends a check from inside the library.
type spent struct{}

// vocabulary returns one without keywords, that every schema has.
func (m *meter) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL:     "schema:///meter",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return m, nil },
	}
}

// Validate counts one step.
func (m *meter) Validate(*jsonschema.ValidatorContext, any) {
	if m.left--; m.left < 0 {
		panic(spent{})
	}
}

// measured is what a check found, and whether it came to its end.
type measured struct {
	found []Violation
	whole bool
}

// measure carries out a check within its steps.
func (c *compiled) measure(check func() []Violation) (result measured) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.meter.left = maxSteps
	defer func() {
		if r := recover(); r != nil {
			if _, ours := r.(spent); !ours {
				panic(r)
			}
			result = measured{}
		}
	}()
	return measured{check(), true}
}
