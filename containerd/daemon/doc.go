// Package daemon finds a containerd or starts the embedded one, and keeps a client
// connected to it: Options come in, a Conn goes out. It owns the client's lock and
// lease, and which runc and snapshotter are used, and brings a server back that was
// lost.
package daemon
