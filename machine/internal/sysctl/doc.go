// Package sysctl has the kind of kernel parameters. It owns one file below /etc/sysctl.d for
// each, and the live value of the kernel: two facts, which are compared and set apart.
package sysctl
