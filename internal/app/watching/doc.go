// Package watching is the command `deployster watch`: it connects package watch, which decides when
// to query and to repair, with the state, the manifests and the images. It owns which generation of
// manifests is watched, when it is read again, and what is reported. Options and an engine come in;
// lines, events and the reason of the end go out.
package watching
