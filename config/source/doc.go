// Package source holds what a manifest is read from: the files of the root and of
// its modules, the lock file, the files with values of variables, and the files that
// expressions read. It owns their text, their parsed bodies and the places in them,
// so that it is also the one who turns HCL's diagnostics into deployster's.
// In go paths and bytes; out come a Set, VarInputs, a Lock, formatted text. Nothing
// here knows what a block means.
package source
