// Package unknowns says how an image is asked about a config with unknown values: for
// an expectation, with null in place of these values.
package unknowns
