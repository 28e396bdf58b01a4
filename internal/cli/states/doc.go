// Package states has the commands `state`, `output`, `operation` and `resolve`: it gets the engine of a command,
// shows and edits the state, and prints where it is and who uses it.
package states
