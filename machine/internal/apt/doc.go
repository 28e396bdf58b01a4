// Package apt has the kinds for the software of a machine: package and apt_source. It reads what
// dpkg and apt print for programs, shows what a transaction brings and removes before it runs,
// and runs each transaction whole. It knows no other package manager, and refuses clearly there.
package apt
