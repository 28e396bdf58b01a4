// Package layout is what all who work with a containerd of deployster agree on:
// the paths in its data and run-time directories, the labels on what belongs to a
// client, and the locks that say who lives. It owns no state: a Config and names
// come in; paths, locks and errors about directories go out.
package layout
