// Package far runs images on another machine, over any stream of bytes that leads
// there. Serve is the end that runs them, with what a Place can do; a Client is the
// end that decides, and is a runner.Runner and a runner.Adopter like the local one.
// It owns what the messages of package wire mean. What an image prints comes out
// as it comes, errors keep their types, and the end of an action is on record here
// before its proof is removed there.
package far
