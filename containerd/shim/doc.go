// Package shim owns the process that looks after one container. Calls of containerd come
// in over a socket, calls of runc go out. It stands by itself because two of these are
// started for every container, and whatever is linked into its program is made ready at
// each start.
package shim
