// Package images asks the images of artifacts, in both of their protocols: it is the
// artifact.Client. Questions come in; runs of images come of them, by the typeclient, and
// versions go out, which are read without trust. It owns what each protocol says: the
// places in the container, the keys on stdin, which answers are lenient and which are not.
package images
