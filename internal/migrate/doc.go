// Package migrate makes manifests and a state of a directory of Terraform's: its
// configuration and its state file come in, files and entries go out. It runs nothing, and
// changes nothing; what cannot be carried over is said by name.
package migrate
