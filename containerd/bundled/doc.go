// Package bundled has the images that come with deployster: OCI layouts next to its programs. A
// reserved name comes in; a record of the image in containerd goes out, made of the layout's files.
// It also writes such layouts, always with the same bytes of the same programs.
package bundled
