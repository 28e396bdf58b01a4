// Package stateview shows people what a state has recorded: resources, outputs, and the actions whose
// outcome is not settled. A state comes in, text goes out.
package stateview
