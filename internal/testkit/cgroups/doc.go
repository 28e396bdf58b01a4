// Package cgroups makes the control groups of what a test starts, of version 1 or 2, and ends all that runs in them.
//
// It owns their directories. In comes a name; out go the directories, for processes to be moved to.
package cgroups
