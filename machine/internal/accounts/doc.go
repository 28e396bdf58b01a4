// Package accounts has the kinds for who may use a machine: user, group and ssh_key. It reads the
// machine's own files, and changes them by the machine's own tools, one at a time.
package accounts
