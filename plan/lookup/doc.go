// Package lookup reads what check blocks declare to be read, for their assertions alone. The states that are known at the end of a
// plan or an apply come in; states of what was read go out, and why the rest could not be. Nothing that fails here is an error of the
// plan or the apply.
package lookup
