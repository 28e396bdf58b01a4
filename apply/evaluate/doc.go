// Package evaluate evaluates what a manifest declares about the states that an apply has reached: the
// conditions of a resource, outputs and checks. The queries of an apply come in; errors, values and
// results go out.
package evaluate
