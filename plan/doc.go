// Package plan decides what must change. A manifest and a state come in; Build
// asks images what is there, and out goes a Plan that says for every resource
// what would be done, Drift a report of what has changed since. It owns that
// decision, and holds nothing that can change the world. A Plan is a value: once
// built or read it is not edited.
package plan
