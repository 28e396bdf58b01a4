// Package hosts reaches the hosts of a manifest and of a state, and owns which of them
// are one machine. Declared and recorded hosts come in, connections and what is wrong
// with them go out.
package hosts
