// Package foreign owns what is said of images that do not run on this machine. The
// manifest of an image comes in, the machines that it is for go out.
package foreign
