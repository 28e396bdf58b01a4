// Package images manages the images of a containerd: their names and digests, pulls, imports
// and packing, signatures, and the results of inspecting their files. References and
// archives come in; an imagestore.Image, or an image Prepared for a container, goes out.
package images
