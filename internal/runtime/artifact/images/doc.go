// Package images runs the images of artifacts, in both of their protocols: it is the
// artifact.Client. Questions come in; it runs images by the typeclient, reads their answers without
// trust, and versions go out. It owns the details of each protocol: the paths in the container, the
// keys on stdin, which answers are read leniently and which are not.
package images
