// Package access owns the way to the machine: its mount namespace, which the program
// enters at its start, its paths, its users and its commands. Kinds get a *Machine, and
// know nothing of containers. In tests the machine is a directory.
package access
