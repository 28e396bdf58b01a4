// Package cli owns the command line: flags, the form of results, exit codes, and the only
// place where the parts meet. Arguments, streams and an environment come in, an exit code
// goes out. What it prints follows three rules: results go to stdout and everything else
// to stderr; every error reports what happened, where, and what to do; no byte from an image
// or a file reaches a terminal unescaped.
package cli
