// Package ocidir stores images in the files of an OCI layout, for a user who has no containerd. A
// directory comes in; a connection goes out whose client needs no daemon. Commands may use the
// directory at the same time.
package ocidir
