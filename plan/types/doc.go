// Package types asks the images of resources what types they are, and grants the
// plugs that a type asks for. A subject and an interface to ask come in; the type and
// the mounts of each resource go out, and what is wrong with them goes to the findings.
package types
