// Package hosts connects to the hosts of a manifest and of a state, and owns which of
// them are the same machine. Declared and recorded hosts come in; connections, and why
// some failed, go out.
package hosts
