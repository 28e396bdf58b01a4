// Package runfiles owns the directory of a run: its standard files as they grow,
// the ledger of what a worker was asked for, and how the program ended. A run-time
// directory and the name of a container come in; readers, logs, and the outcomes of
// actions whose client died go out.
package runfiles
