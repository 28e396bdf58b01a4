// Package operating runs operations: what a type does with a recorded object on request, such as a backup. Addresses, a name and
// an input come in; a report goes out. It owns what is shown and approved before, the order of the records around a run, and which
// run is refused because it is not known how the one before ended. It knows no manifest: all is in the state.
package operating
