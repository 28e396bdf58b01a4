// Package hosts is what the command line adds to reaching hosts: which files of
// this program are installed there, and the far end that serves on stdin and stdout.
// A command's environment comes in; a way to dial, and a process that serves one
// client, go out.
package hosts
