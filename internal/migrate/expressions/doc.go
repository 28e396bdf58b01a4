// Package expressions translates Jinja2 to HCL: a template of a manifest of the original
// deployster comes in, an expression in HCL with the same value goes out. What has no
// expression with the same value in every case is a reason, never a guess: the kinds of
// values decide, and where a kind is not known, the expression holds for each.
package expressions
