// Package mounts knows what is mounted on the machine: a path comes in; the mounts there, whether they
// are those of a config, and who uses them, go out.
package mounts
