// Package query has what a plan and a report of drift begin with: a Session knows the
// subject, the types and the plugs of its resources, and the client that queries images.
// It makes the step of a resource before it is queried, queries its state, and reports how
// the inputs of its type have changed since it was last VALID.
package query
