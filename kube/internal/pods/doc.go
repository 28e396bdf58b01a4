// Package pods follows the Pods of a state or a command in one watch, and their events in another. Whoever waits
// for a Pod waits here. A Pod object that vanished is kept in the form that it was seen last: whether its container had ended
// then decides whether something may still run.
package pods
