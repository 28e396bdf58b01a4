// Package files has the kinds whose objects are in directories: file, directory and link.
// Each gets the machine, and owns the comparison of its config with what is at a path;
// writing is package replace's.
package files
