// Package meter measures what commands take, with all that runs on their behalf.
//
// A command comes in, or a function of this process. The time on the clock, that of the
// processors and the memory go out: of the command, its containerd, shims and containers.
package meter
