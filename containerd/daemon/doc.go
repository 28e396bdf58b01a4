// Package daemon finds a containerd or starts the embedded one, and keeps a client
// connected to it: Options come in, a Conn goes out. It manages the client's lock and
// lease, chooses runc and the snapshotter, and starts a lost server again, or waits for
// it.
package daemon
