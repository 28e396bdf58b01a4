// Package scale measures the engine itself, without containers: how its cost
// grows with the number of resources. It is benchmarks and one test.
package scale
