// Package trace finds where values come from: the expressions and states to which references
// lead, why a value is unknown, the values from which a config is computed, and its place in
// the manifest. It takes expressions with an eval.Evaluator, and returns expressions,
// references and lines for people, within limits.
package trace
