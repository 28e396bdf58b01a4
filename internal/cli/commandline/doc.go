// Package commandline reads the arguments of the process before the flag library
// does. It owns where flags may stand, which flags the environment adds, and the
// words of mistakes. Arguments and the commands that there are come in; a Line goes
// out, with the arguments in the order that the library wants. It prints nothing.
package commandline
