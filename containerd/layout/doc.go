// Package layout has what all packages that use a containerd of deployster must agree on:
// the paths in its data and run-time directories, the labels on a client's containers,
// and the locks that show which clients are alive. It has no state: a Config and names
// come in; paths, locks and errors about directories go out.
package layout
