// Package contents is the connection to a store of contents, leases and names of images: a
// containerd's, or one of files. A client of containerd's library comes in; contexts for its calls
// go out.
package contents
