package cases

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"

	"deployster/config/source"
)

// Ending is how the name of a file of tests ends.
const Ending = source.TestEnding

// File is a file of tests.
type File struct {
	Name  string // as people see it
	Cases []Case
	text  []byte
}

// Case is one test of a manifest.
type Case struct {
	Name      string
	Follows   string // the case whose result it begins with; "" = with nothing
	Variables []source.VarInput
	World     map[string]map[string]Object // the objects there are, by type and by address of the resource
	Errors    []string                     // texts that the errors of the plan have; empty = it has none
	Line      int

	asserts []assert
	follows hcl.Range
}

// Object is an object of the world of a case.
type Object struct {
	State json.RawMessage // an object: what it has that differs from the config; nil = it does not exist
	At    hcl.Range
}

// assert is what a case expects of the plan.
type assert struct {
	condition, message hcl.Expression
}
