package typeschema

import "github.com/santhosh-tekuri/jsonschema/v6"

// maxSteps is how often schemas may be applied to values in one check. The library
// keeps its intermediate results, so this limits memory too. An ordinary document needs
// fewer steps.
const maxSteps = 200_000

// meter counts the steps of a check. The library cannot be stopped, but it calls a
// vocabulary of this package at each step.
type meter struct {
	left int
}

// stepLimit is the panic value that ends a check from inside the library.
type stepLimit struct{}

// vocabulary returns a vocabulary without keywords, which applies to every schema.
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

// checkResult is the result of a check, and whether the check was completed.
type checkResult struct {
	found []Violation
	whole bool
}

// measure runs a check within the limit of steps. The caller must hold mu.
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
