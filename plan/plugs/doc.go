// Package plugs decides which files and directories of the host a resource is
// given: the plugs of a manifest and what a type asks for come in, mounts go out,
// or errors that say why it does not get them. It also holds the dependencies that
// a type requires.
package plugs
