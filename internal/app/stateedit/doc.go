// Package stateedit changes the state of a workspace by hand, and restores, lists and
// rewrites its copies: a workspace and addresses come in, what was changed goes out.
package stateedit
