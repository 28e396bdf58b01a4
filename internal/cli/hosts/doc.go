// Package hosts is the command line's part of connecting to hosts: which files of this
// program are installed there, and the agent that serves on stdin and stdout. A
// command's environment comes in; a function to dial, and a process that serves one
// client, go out.
package hosts
