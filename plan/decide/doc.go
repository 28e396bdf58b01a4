// Package decide decides what a plan does with each resource and each entry. It takes a
// session, and returns Decisions, with the Matched that they were made with. The resources
// are decided in rounds: when a decision learns which object a resource means, all is
// matched again, and the decisions that still hold are kept.
package decide
