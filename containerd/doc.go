// Package containerd runs images: it owns the one implementation of
// runner.Runner that starts real containers, and is the only package that knows
// of containerd. A runner.Spec comes in, a runner.Result goes out.
//
// Without an address it brings its own containerd: a background process of
// this same binary (RunServer), started on demand, shared by everyone who uses
// the same data directory, and gone by itself when idle. Its shims are
// this binary too, or a smaller one beside it (package shim). With an address it is a client of a running daemon.
//
// A run is a container with a snapshot of its own, three plain files for its
// stdin, stdout and stderr, and labels that say whose it is. Whoever owns
// containers holds a lock on a file, which the kernel frees when he dies; then
// they are swept, by the embedded server or by the next client. The container of
// a query is removed behind its back: see removeLater.
//
// Each container has a shim of its own. Containers of one client could share
// one (the annotation io.containerd.runc.v2.group), but with that 5 to 13 of 40
// runs, 8 at a time, failed to start with "ttrpc: closed", and cgroups were
// left behind; presumably the shim ends with its last container while the next
// is being made. The test of stdin would show it.
//
// Its rooms are layout, failure, runfiles, daemon, sandbox, images, sweep, idlepool
// and server, each a package of its own; here is what starts and ends programs.
package containerd
