// Package runfiles manages the directory of a run: its standard files as they grow, the
// ledger of the actions requested from a worker, and how the program ended. A run-time
// directory and the id of a container come in; readers, logs, and the outcomes of actions
// whose client was killed go out.
package runfiles
