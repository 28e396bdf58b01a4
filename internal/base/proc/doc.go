// Package proc reads the kernel's data about a process of this machine: whether it exists, its
// name, and when it started. A process id goes in, a Status goes out. It parses /proc/PID/stat,
// in which a name may contain any character. For this process it returns the processor time
// used, and the part of the environment that other programs get.
package proc
