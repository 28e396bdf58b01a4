// Package types queries the images of resources for their types, and grants the
// plugs that a type requests. It takes a subject and a prober, returns the type and the
// mounts of each resource, and reports errors to the findings.
package types
