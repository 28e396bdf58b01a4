// Package scale measures the engine without containers: what each of its parts
// costs, beside the least that the work can cost, and how that grows with the
// number of resources. It is benchmarks (make bench-engine), and one test that
// holds every part to be linear in allocations, which do not depend on how busy a
// machine is.
package scale
