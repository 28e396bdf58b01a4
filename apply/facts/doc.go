// Package facts owns what has come true so far in an apply: how resources are, what was
// begun on them, destroyed, stopped or remembered, and what became known of hosts. Many
// goroutines write it, and read it in place of what the plan expects.
package facts
