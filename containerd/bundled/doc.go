// Package bundled has the images that come with deployster: OCI layouts next to its programs. A
// reserved name or a digest comes in; contents for hosts go out, read from the layout's files, or a
// record of the image in containerd, made of them. It also writes such layouts, always with the same
// bytes of the same programs.
package bundled
