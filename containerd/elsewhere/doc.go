// Package elsewhere is the runtime of a user who is not root, or whose machine is not Linux: images
// are stored here in files and run on hosts, and whatever would run here is an error. References and
// digests come in; images for hosts go out.
package elsewhere
