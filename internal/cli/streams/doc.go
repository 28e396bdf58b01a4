// Package streams owns how the streams of this process were when it began: the number of
// a stream comes in, whether it was closed goes out.
package streams
