package source

import (
	"fmt"
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// VarInput is one given value of a variable, and its source. FindVariables and Pinned
// create it.
type VarInput struct {
	Name   string
	Origin string // the name of its source in messages

	Text   string    // from the environment or -var: parsed by the variable's type
	Value  cty.Value // cty.NilVal: Text counts
	Strict bool      // given by -var: it is an error if the variable is undeclared
	Quiet  bool      // from the environment: an undeclared variable is normal
	Pinned bool      // from a plan
	At     hcl.Range // the place of the value, if it is from a file
	Src    []byte    // the content of that file
	// within returns the place of a part of the value, by keys and indexes; nil = At.
	within func(steps []string) hcl.Range
}

// Answered returns the value that a person typed for a variable; it is parsed like
// that of -var.
func Answered(name, text string) VarInput {
	return VarInput{Name: name, Origin: "what was typed for var." + name, Text: text, Value: cty.NilVal, Strict: true}
}

var validName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*$`)

// IsName reports whether a text can be the name of a block or a variable.
func IsName(text string) bool { return validName.MatchString(text) }

// WhyNoName returns why a text is not a name, and what a name is.
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
