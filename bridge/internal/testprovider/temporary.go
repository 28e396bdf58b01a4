package testprovider

import (
	"fmt"
	"os"
)

// RunTests runs the tests of a package, of testing.M, with a directory of their own for
// temporary files, since a provider that is killed leaves its socket. It returns their exit
// code.
func RunTests(m interface{ Run() int }) int {
	dir, err := os.MkdirTemp("", "providers")
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }() // the tests are over
	return m.Run()
}
