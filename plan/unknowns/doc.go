// Package unknowns says how an image is asked about a config that is not all known yet:
// for an expectation, with null where the values will be.
package unknowns
