// Package findings collects what is wrong with a plan while it is made, from many
// goroutines. Diagnostics come in, with the resource that they are about; the same go
// out with the place in the manifest, in an order that does not depend on timing.
package findings
