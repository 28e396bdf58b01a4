// Package guarding has the groups of guarded actions of an apply: which resources form one, in which
// order they and what depends on them are done, and what has become of a group so far. A plan and its
// graph come in; a graph with the nodes that settle groups goes out. The host decides about a group:
// what this package knows of it is what the host has answered.
package guarding
