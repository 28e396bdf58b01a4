package typeschema

import "github.com/santhosh-tekuri/jsonschema/v6"

// maxSteps is how many times schemas are applied to values in one check. The library
// keeps what it finds on the way, so this bounds memory too. An honest document has
// fewer values than that.
const maxSteps = 200_000

// meter counts the steps of a check. The library has no way to be stopped, but
// calls a vocabulary of ours at each step.
type meter struct {
	left int
}

// stepLimit ends a check from inside the library.
type stepLimit struct{}

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
		panic(stepLimit{})
	}
}

// checkResult is what a check found, and whether it was finished.
type checkResult struct {
	found []Violation
	whole bool
}

// measure carries out a check within its steps. Whoever calls it holds mu.
func (c *compiledSchema) measure(check func() []Violation) (result checkResult) {
	c.meter.left = maxSteps
	defer func() {
		if r := recover(); r != nil {
			if _, ours := r.(stepLimit); !ours {
				panic(r)
			}
			result = checkResult{}
		}
	}()
	return checkResult{check(), true}
}
