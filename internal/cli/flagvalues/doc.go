// Package flagvalues parses what the flag library does not: flags that may be repeated,
// or were not given, NAME=VALUE pairs, and surplus arguments. Words come in, one by one; lists, maps and
// errors go out.
package flagvalues
