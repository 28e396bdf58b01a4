// Package remote runs images on another machine, over any stream of bytes that leads
// there. Serve is the host's end: it runs the images by means of a Place. Client is the
// end that decides what runs; it implements runner.Runner and runner.Adopter as the
// local runtime does. The package owns what the messages of package wire mean. It
// passes on the output of an image while the image runs, and errors keep their types.
// The client records the end of an action before the host removes the proof of it.
package remote
