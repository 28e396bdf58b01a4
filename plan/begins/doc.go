// Package begins owns which state a plan may begin that was made without one. The place
// of a state comes in, and the id of a plan; out goes a value that a signed plan carries,
// why the plan does not fit another place, and the lineage of the state that it begins.
package begins
