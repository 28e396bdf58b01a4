// Package config reads the manifest language: it finds the files, checks them,
// and evaluates their expressions. It is the only package that knows HCL; what
// it gives to others is plain Go values and JSON.
//
// The way through it: Find reads the manifests (find.go) and FindVariables the
// given variable values (varfiles.go); Load parses (load.go, limits.go),
// decodes blocks (blocks.go), connects references (graph.go) and evaluates
// everything that does not depend on resources; Manifest.Config and
// Manifest.Outputs evaluate the rest, against what is known of the resources'
// states at that moment (eval.go, state.go, unknown.go, json.go).
//
// It is longer than 1,500 lines because a language whose errors teach needs a
// check and a sentence for each way of getting it wrong, and because evaluation
// of half-known states, limits and functions cannot be had without HCL's types,
// which no other package may see.
package config
