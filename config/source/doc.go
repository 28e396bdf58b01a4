// Package source holds the inputs of a manifest: the files of the root and of its modules,
// the lock file, the files with values of variables, and the files that expressions read.
// It owns their text, their parsed bodies and the places in them, and therefore also
// converts HCL's diagnostics to deployster's. Its inputs are paths and bytes; its results
// are a Set, VarInputs, a Lock and formatted text. It does not know what a block means.
package source
