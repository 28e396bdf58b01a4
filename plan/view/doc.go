// Package view is how a resource is seen by those that depend on it: by their
// expressions and by their images. In: what is expected of it, or what came true, and
// the state. Out: the scope of expressions, and what images are told.
package view
