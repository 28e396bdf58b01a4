// Package command has the kind exec: a command that is run where another command reports that
// it is needed. It owns nothing on the machine but what these commands do.
package command
