// Package timers lets timers of a process fire together: one that looks at many quiet programs
// wakes up as often as for one, which is most of what that takes. Input: an interval. Output:
// how long to wait.
package timers
