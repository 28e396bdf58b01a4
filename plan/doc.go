// Package plan decides what must change. Build takes a manifest and a state, queries
// images for the state of each resource, and returns a Plan that reports what would be
// done for every resource. Drift reports what has changed since the last apply. The
// package owns that decision, and holds nothing that can change the world. A Plan is
// a value: nobody edits it once it was built or read.
package plan
