// Package machines boots real Debian machines on this one, without virtualization: each has a
// systemd, an sshd, an apt and a file system of its own, and boots in about a second.
//
// It owns their processes, mounts and cgroups, and a Debian in the user's cache directory that all
// of them share. A test, or another program, gets a Machine, and all that it changed is forgotten
// with it. It needs root, mmdebstrap and systemd-nspawn.
package machines
