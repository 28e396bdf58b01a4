// Package unpacked unpacks the images of a containerd and reads their files: users,
// the targets of mounts, whether a path exists. A digest comes in; an image Prepared for a container
// goes out.
package unpacked
