package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/decl"
	"deployster/config/limits"
	"deployster/config/source"
)

// What programs know of the language that help people to write manifests.
type (
	Syntax        = decl.Syntax
	ReferenceRoot = decl.Root
	Edited        = source.Edited
)

// Language returns what a manifest may have: its blocks, with their attributes and blocks.
func Language() Syntax { return decl.Language() }

// ReferenceRoots returns the names with which references begin.
func ReferenceRoots() []ReferenceRoot { return decl.Roots() }

// Functions returns the functions of expressions. Those of files read none.
func Functions() map[string]function.Function { return source.Functions() }

// HasValuesOnly reports whether a file whose name is that of a manifest has values of variables.
func HasValuesOnly(name string, text []byte) bool { return source.HasValuesOnly(name, text) }

// IsNested reports whether a text in native syntax is nested more deeply than the parser may be given.
func IsNested(text []byte) bool { return limits.Native(text, "", false, hcl.InitialPos) != nil }
