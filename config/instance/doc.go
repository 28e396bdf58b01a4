// Package instance holds what blocks come to: a Module for each instance of a module
// with the resources in it, an Expansion for each for_each and count, and the Scope in
// which an expression stands. The values that plan and apply work with (Resource, Plug,
// States, Resolved, Output) are here too. It has no evaluation: eval fills it.
package instance
