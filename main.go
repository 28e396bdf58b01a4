// Command deployster plans and applies with container images as resource
// types. On Linux the same binary also serves as the embedded containerd and as its
// shim, by the name that it is called with.
package main

import (
	"os"

	"deployster/internal/cli"
	"deployster/internal/cli/process"
)

func main() {
	serve(os.Args)
	os.Exit(cli.Main(process.Stdout()))
}
