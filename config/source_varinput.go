package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// VarInput is one given value of a variable, with where it came from. It is
// made by FindVariables and Pinned.
type VarInput struct {
	Name   string
	Origin string // how to call its source in a message

	text   string    // from the environment or -var: read by the variable's type
	value  cty.Value // cty.NilVal: text counts
	strict bool      // given by -var: that nobody declared it is an error
	quiet  bool      // from the environment: that nobody declared it is normal
	pinned bool      // from a plan
	at     hcl.Range // in a file, if from one
	src    []byte    // that file's
	// within is where a part of the value stands, by keys and indexes; nil = as at.
	within func(steps []string) hcl.Range
}

// Answered is the value that a person has typed for a variable; it is read like
// that of -var.
func Answered(name, text string) VarInput {
	return VarInput{Name: name, Origin: "what was typed for var." + name, text: text, value: cty.NilVal, strict: true}
}
