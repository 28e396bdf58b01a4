// Package server is the embedded containerd: a background process of this same binary,
// started on demand, shared by all users of one data directory, which ends by itself when
// idle. Flags come in; a socket, a swept run-time directory and an exit code go out. It
// owns the data directory while it runs.
package server
