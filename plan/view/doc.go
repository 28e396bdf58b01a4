// Package view describes a resource as its dependants see it: their expressions and
// their images. It takes what is expected of the resource, or its real answer, and the
// state. It returns the scope of expressions, and what images are told.
package view
