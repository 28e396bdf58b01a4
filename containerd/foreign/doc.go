// Package foreign finds out for which platforms an image is. The manifest of an image
// comes in; an error with its platforms goes out if this machine's is not among them.
package foreign
