// Package typetest is the command `type`: what an image declares, and the only entry to the tests of
// images. Flags come in; what is tested and how it ended is printed, and an exit code goes out.
package typetest
