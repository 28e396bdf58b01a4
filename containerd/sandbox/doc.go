// Package sandbox says how a container is confined, and asks the kernel about one
// that runs. An image's Program and a runner.Spec come in; the specification for
// runc, with the mounts held open until they are checked, goes out. It starts
// nothing.
package sandbox
