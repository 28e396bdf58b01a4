// Package flagvalues owns what the flag library does not read of the command line: flags
// that may be repeated, NAME=VALUE pairs, and arguments that nothing takes. Words come
// in, one by one; lists, maps and errors go out.
package flagvalues
