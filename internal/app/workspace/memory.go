package workspace

import (
	"runtime/debug"

	"deployster/config"
)

const (
	// manyResources is the number of resources from which on the memory of a command
	// matters more than the time for collecting garbage.
	manyResources = 3000
	// resourceSize is the least number of bytes that a resource takes in a manifest or a plan file.
	resourceSize = 100
	// hostResources is how many resources take as much memory as the work in progress on
	// one host: up to 80 actions, each with its output and its stack.
	hostResources = 100
)

// How much the heap of a command on many resources may grow beyond its live data, in
// percent. While manifests are read little is live, and nearly all is soon garbage; the
// phases after that have the most in memory.
const (
	whileReading = 100
	afterwards   = 40
)

// spareMemory keeps the heap small of a command that works on many resources. Package
// collector lets the heap grow, since most commands end before collecting pays.
func (w *Workspace) spareMemory(resources, percent int) {
	if resources > manyResources && w.Env("GOGC") == "" {
		debug.SetGCPercent(percent) // a plan of 10,000 stays small: docs/internals/fast.md
	}
}

// SpareForHosts is spareMemory for a command that works on n hosts.
func SpareForHosts(w *Workspace, n int) { w.spareMemory(n*hostResources, afterwards) }

// StayLong keeps the heap small of a command that runs for months, and returns unused
// memory of its start to the operating system.
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

// atMost returns how many resources manifests can have at most, by their size.
func atMost(s config.Sources) int {
	size := 0
	for _, f := range s.Manifests {
		size += len(f.Bytes)
	}
	return size / resourceSize
}
