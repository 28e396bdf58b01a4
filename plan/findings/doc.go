// Package findings collects the diagnostics of a plan while it is made, from many
// goroutines. It takes diagnostics with the resource that they refer to, and returns them
// with the place in the manifest, in an order that does not depend on timing.
package findings
