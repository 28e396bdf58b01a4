// Command world is the image of all kinds of things, for real containers. The
// world is a directory that they have mounted.
package main

import (
	"os"

	"deployster/internal/testkit/modeltest"
)

func main() {
	os.Exit(modeltest.Program(modeltest.Dir("/things"), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
