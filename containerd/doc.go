// Package containerd runs images: it has the only implementation of runner.Runner
// that starts real containers, and is the only package that uses containerd. A
// runner.Spec comes in, a runner.Result goes out.
//
// Without an address it starts its own containerd: a background process of this same binary
// (RunServer), started on demand, shared by all users of the same data directory, which ends by
// itself when idle. Its shims are this binary too, or a smaller one next to it (package shim).
// With an address it is a client of a running daemon.
//
// A run is a container with a snapshot of its own, three plain files for its stdin,
// stdout and stderr, and labels that name its client. A client holds a lock on a file,
// which the kernel releases when the client ends; then its containers are swept, by the
// embedded server or by the next client. The container of a query is removed in the
// background: see removeLater.
//
// Each container has a shim of its own. Containers of one client could share one (the
// annotation io.containerd.runc.v2.group), but then 5 to 13 of 40 runs, 8 at a time,
// failed to start with "ttrpc: closed", and cgroups were left behind; presumably the shim
// ends with its last container while the next is being created. The test of stdin would
// show it.
//
// Its subpackages are layout, failure, runfiles, daemon, sandbox, images, sweep, idlepool
// and server, among others; this package starts and ends programs.
package containerd
