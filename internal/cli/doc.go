// Package cli owns the command line: flags, the look of results, exit codes, and the
// only place where the parts meet. Arguments, streams and an environment come in, an
// exit code goes out. What it prints follows three rules: results go to stdout and all
// else to stderr; every error says what happened, where, and what to do; no byte that an
// image or a file brought reaches a terminal unescaped.
package cli
