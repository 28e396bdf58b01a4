// Package runner is the vocabulary of deployster's one primitive: run an image with
// arguments, input and mounts (a Spec comes in), and report how the run ended (a Result
// goes out). It owns only these types and interfaces. The containerd package implements
// them, and the typeclient package speaks the protocol by means of them. Neither
// imports the other.
package runner
