// Package shim is the process that supervises one container. Calls of containerd come in
// over a socket, calls of runc go out. It is a package of its own because two of these
// processes start for every container, and everything that is linked into the program is
// initialised at each start.
package shim
