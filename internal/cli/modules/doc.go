// Package modules owns the flags and the output of the command module. A command line and a session come
// in; the work is done by internal/app/modules.
package modules
