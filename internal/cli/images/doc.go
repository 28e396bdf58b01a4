// Package images is the command image: its flags, and how images are printed. A session
// of the command line comes in; tables, documents and errors go out. The packages
// internal/app/images and containerd/images do the work.
package images
