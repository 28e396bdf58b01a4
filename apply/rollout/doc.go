// Package rollout begins the hosts of an apply in waves: it waits after each, has its resources queried
// again, and evaluates the gates. A schedule and the hosts that were begun come in; how each wave ended
// goes out, and whether another one follows.
package rollout
