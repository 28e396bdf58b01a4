// Package edges finds what values depend on: the edges between the instances of resources,
// what pending blocks wait for, and what the outputs of the root read. Its input is the
// eval.Modules of a manifest; it sets the edges of the instances, and returns a Reach for
// each output.
package edges
