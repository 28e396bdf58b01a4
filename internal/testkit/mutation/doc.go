// Package mutation builds tests of this module with a fault put into its source,
// to show that the tests see it. Tests and a Fault, which is a replacement in one
// file, come in; a failed test comes out where the fault is not seen. The sources
// stay as they are: the compiler reads the changed file through an overlay.
package mutation
