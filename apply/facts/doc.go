// Package facts owns what has become known so far in an apply: states of resources, started
// actions, destroyed objects, shutdowns, memories, identities and hosts. Many goroutines write
// these facts, and read them in place of what the plan expects.
package facts
