package source

import (
	"fmt"
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// VarInput is one given value of a variable, with where it came from. It is
// made by FindVariables and Pinned.
type VarInput struct {
	Name   string
	Origin string // how to call its source in a message

	Text   string    // from the environment or -var: read by the variable's type
	Value  cty.Value // cty.NilVal: text counts
	Strict bool      // given by -var: that nobody declared it is an error
	Quiet  bool      // from the environment: that nobody declared it is normal
	Pinned bool      // from a plan
	At     hcl.Range // in a file, if from one
	Src    []byte    // that file's
	// within is where a part of the value stands, by keys and indexes; nil = as at.
	within func(steps []string) hcl.Range
}

// Answered is the value that a person has typed for a variable; it is read like
// that of -var.
func Answered(name, text string) VarInput {
	return VarInput{Name: name, Origin: "what was typed for var." + name, Text: text, Value: cty.NilVal, Strict: true}
}

var validName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*$`)

// IsName reports whether a text can be the name of a block or a variable.
func IsName(text string) bool { return validName.MatchString(text) }

// WhyNoName says what keeps a text from being a name, and what a name is.
func WhyNoName(text string) string {
	what := "it is empty"
	for i, r := range text {
		if i == 0 && !IsName(string(r)) {
			what = fmt.Sprintf("it begins with %q", r)
			break
		}
		if !IsName("a" + string(r)) {
			what = fmt.Sprintf("it has %q in it", r)
			break
		}
	}
	return fmt.Sprintf("%q cannot be a name: %s. A name begins with a letter from a to z or A to Z, and has such letters, digits, _ and - "+
		"only.", text, what)
}
