package collector

import "runtime/debug"

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
	WhileReading = 100
	Afterwards   = 40
)

// Spare keeps the heap small of a command that works on many resources: percent is one of
// those above. The user's GOGC counts more. A command lets its heap grow otherwise, since
// most end before collecting pays.
func Spare(gogc string, resources, percent int) {
	if resources > manyResources && gogc == "" {
		debug.SetGCPercent(percent) // a plan of 10,000 stays small: docs/internals/fast.md
	}
}

// SpareForHosts is Spare for a command that works on n hosts.
func SpareForHosts(gogc string, n int) { Spare(gogc, n*hostResources, Afterwards) }

// StayLong keeps the heap small of a command that runs for months, and returns unused
// memory of its start to the operating system.
func StayLong(gogc string, resources int) {
	if gogc == "" {
		percent := 100
		if resources > manyResources {
			percent = 50
		}
		debug.SetGCPercent(percent)
	}
	debug.FreeOSMemory()
}

// Release returns unused memory to the operating system, in the background.
func Release() { go debug.FreeOSMemory() }

// ResourcesIn returns how many resources a manifest or a plan file of that many bytes can
// have at most.
func ResourcesIn(bytes int) int { return bytes / resourceSize }
