// Package report is what an apply reports at its end. How the work on each node of the plan ended
// comes in, the report goes out. It owns the statuses, and what the end of one resource means for
// the report of others, of hosts and of the whole.
package report
