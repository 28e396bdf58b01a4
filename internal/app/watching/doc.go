// Package watching is the command `deployster watch`: it brings what decides when to look
// and to repair together with the state, the manifests and the images. It owns which
// generation of manifests is watched, when it is read anew, and what is told. Options
// and an engine come in; lines, events and how it ended go out.
package watching
