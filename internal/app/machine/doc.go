// Package machine owns the connection of a command to this machine's container runtime: its
// workers, the connections to hosts that run images too, and the store of artifacts. Options come
// in; clients for images, and what an image declares, go out. A Machine is closed by the one who
// opened it.
package machine
