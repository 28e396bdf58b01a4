package workspace

import (
	"runtime/debug"

	"deployster/config"
)

const (
	// manyResources is from how many on what a command has in memory is worth more
	// than what collecting garbage costs.
	manyResources = 3000
	// resourceSize is how many bytes a resource takes in a manifest or a plan file, or more.
	resourceSize = 100
	// hostResources is how many resources take as much memory as what is under way at one
	// time on a host: up to 80 actions, each with its output and its stack.
	hostResources = 100
)

// How much the heap of a command on many resources may grow beyond what is live, in
// percent. While manifests are read little is live, and nearly all is soon garbage; what
// follows has the most in memory.
const (
	whileReading = 100
	afterwards   = 40
)

// spareMemory has the heap of a command that works on many resources stay small:
// package collector lets it grow, since most commands end before collecting pays.
func (w *Workspace) spareMemory(resources, percent int) {
	if resources > manyResources && w.Env("GOGC") == "" {
		debug.SetGCPercent(percent) // a plan of 10,000 stays small: docs/internals/performance.md
	}
}

// SpareForHosts is the same for a command that works on many hosts.
func SpareForHosts(w *Workspace, n int) { w.spareMemory(n*hostResources, afterwards) }

// StayLong has the heap of a command that goes on for months stay small, and gives back
// what its beginning has taken.
func StayLong(w *Workspace, resources int) {
	if w.Env("GOGC") == "" {
		percent := 100
		if resources > manyResources {
			percent = 50
		}
		debug.SetGCPercent(percent)
	}
	debug.FreeOSMemory()
}

// atMost returns how many resources manifests can have, by their size.
func atMost(s config.Sources) int {
	size := 0
	for _, f := range s.Manifests {
		size += len(f.Bytes)
	}
	return size / resourceSize
}
