// Package workspace is the directory in which a command works, with its files: manifests,
// values of variables, the state, keys, saved plans, records.
//
// It owns where these files are, how they are read and written, and what they declare before
// any image runs. Paths and plain options come in; manifests, states, plans and
// errors go out, and warnings to a UI. It runs nothing and knows no flags.
package workspace
