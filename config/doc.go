// Package config reads the manifest language: it finds the files, checks them,
// and evaluates their expressions. Only this package and its subpackages know HCL;
// other packages get plain Go values and JSON.
//
// It is the public interface of its subpackages, which no other package imports. Bottom
// up they are: limits, funcs, refs, values, source, decl, validate, instance, eval, trace,
// results, expand. Load calls them in turn: source parses, decl decodes the blocks,
// validate resolves their references, and expand creates the resources with eval. A
// Manifest is the result; its methods evaluate the rest against the states of resources
// known at that moment.
package config
