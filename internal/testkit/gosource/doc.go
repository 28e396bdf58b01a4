// Package gosource reads the Go files of this module for the tests that hold
// them to rules: who may import whom, how large a file may be, which names the
// documentation may use. It gets the root of the module and returns the files,
// parsed. It imports the standard library only.
package gosource
