// Package plugs decides which files and directories of the host a resource is given.
// It takes the plugs of a manifest and the requests of a type, and returns mounts, or
// errors that report why the resource does not get them. It also checks the dependencies
// that a type requires.
package plugs
