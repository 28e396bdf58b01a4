// Package settings parses the settings in a command's environment. A function that finds
// variables comes in; sizes, times and paths go out, or an error that names the
// invalid variable.
package settings
