// Package guard keeps, on a host, what undoes guarded actions there. The agent of a client arms a group, and
// notes each of its actions; a process of its own, started by a unit of systemd, undoes them in time
// unless a client confirms the group. The package owns the record of a group, the decision between
// confirming and undoing, the process and its unit.
package guard
