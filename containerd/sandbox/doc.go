// Package sandbox decides how a container is confined, and queries the kernel about a
// running one. An image's Program and a runner.Spec come in; the specification for runc,
// with the mounts held open until they are checked, goes out. It starts nothing.
package sandbox
