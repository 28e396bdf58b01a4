// Package instance holds the instances of blocks: a Module for each instance of a module
// with its resources, an Expansion for each for_each and count, and the Scope in which an
// expression is evaluated. It also has the values that plan and apply work with (Resource,
// Plug, States, Resolved, Output). It evaluates nothing: package eval sets its values.
package instance
