// Package settings reads what the environment of a command sets. A way to look variables
// up comes in; sizes, times and paths go out, or an error that names the variable which is
// not right.
package settings
