// Package stage owns the order in which a command comes from manifests to a report, as values:
// Loaded, Opened, Connected, Drafted, Approved, Ran. Each is made by a function from the one
// before, so none can be left out or come too early, and each has all that is known by then.
// Commands are short lists of these stages. Who makes a stage that can be closed closes it, after
// all that was made from it.
package stage
