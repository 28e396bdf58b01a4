// Package proc reads what the kernel says of a process of this machine: whether it is
// there, by which name, and since when. A number goes in, a Status goes out. It owns the
// form of /proc/PID/stat, in which a name may hold anything. Of this process it says how
// long it had a processor, and which part of its environment another program gets.
package proc
