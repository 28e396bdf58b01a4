// Package images is the command image: its flags, and how images are printed. A session
// of the command line comes in; tables, documents and errors go out. What is done with
// images, internal/app/images and containerd/images know.
package images
