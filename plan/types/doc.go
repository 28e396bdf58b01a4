// Package types asks the images of resources what types they are, and grants the
// plugs that a type asks for. It takes a subject and a prober, returns the type and the
// mounts of each resource, and reports errors to the findings.
package types
