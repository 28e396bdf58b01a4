// Package config reads the manifest language: it finds the files, checks them,
// and evaluates their expressions. With the rooms below it, it is the only one that
// knows HCL; what it gives to others is plain Go values and JSON.
//
// It is the face of the rooms, which nobody else imports, bottom up: limits, funcs,
// refs, values, source, decl, validate, instance, eval, expand. Load goes through
// them: source parses, decl decodes the blocks, validate connects them, expand makes
// resources of them with eval. A Manifest has the result; its methods evaluate the
// rest against what is known of the resources' states at that moment.
package config
