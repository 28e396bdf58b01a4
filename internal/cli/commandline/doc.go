// Package commandline parses the arguments of the process before the flag library does.
// It owns where flags may stand, which flags the environment adds, and the messages about
// mistakes. Arguments and the existing commands come in; a Line goes out, with the
// arguments in the order that the library requires. It prints nothing.
package commandline
