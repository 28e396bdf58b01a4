// Package programs finds the files that are installed with deployster: its other programs,
// its runc, and what else comes with it. The name of a file comes in; its path goes out. All
// parts of deployster search here, so that each file is found in the same places.
package programs
