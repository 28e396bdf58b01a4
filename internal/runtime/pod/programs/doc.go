// Package programs runs programs as children of this process, which is the first one of a
// container: it reaps all processes of the container. Specs come in, and the results of
// the programs go out. The package applies the limits of time, answers and logs that a
// Spec declares; the limits of the container are its runtime's.
package programs
