// Package supervise waits for the end of a running program of any kind, and ends it when its time is
// over, its run is cancelled, or it prints or writes too much. A program and its files come in; its
// result goes out, or why it is unknown how it ended.
package supervise
