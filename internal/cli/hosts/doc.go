// Package hosts is the command line's part of connecting to hosts: which programs are
// installed there, and how what they report is printed. A command's environment comes
// in; a function to dial goes out.
package hosts
