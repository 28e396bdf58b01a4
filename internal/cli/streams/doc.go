// Package streams finds out which streams of this process were closed when it began: the
// number of a stream comes in, whether it was closed goes out.
package streams
