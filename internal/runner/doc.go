// Package runner is the vocabulary of the tool's one primitive: run this image
// with these arguments, input and mounts (a Spec comes in), and say how it ended
// (a Result goes out). It owns the words and the interfaces only. The containerd
// package carries them out, the typeclient package speaks the protocol through
// them, and neither knows of the other.
package runner
