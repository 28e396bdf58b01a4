// Package refresh decides which resources are notified that a resource which they subscribe
// was acted on. It takes the subscriptions of a resource, its entry and which resources
// run actions. It compares two numbers of the state file, so that a crash loses nothing:
// the serial of the last run that acted on a resource, and the one that the subscriber has seen.
package refresh
