// Command deployster-layout packs a static program as an image that comes with deployster:
// deployster-layout DIR NAME ARCH=PROGRAM...
package main

import (
	"fmt"
	"os"
	"strings"

	"deployster/containerd/bundled"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: deployster-layout DIR NAME ARCH=PROGRAM...")
		os.Exit(2)
	}
	programs := map[string]string{}
	for _, arg := range os.Args[3:] {
		arch, program, _ := strings.Cut(arg, "=")
		programs[arch] = program
	}
	if err := bundled.Write(os.Args[1], os.Args[2], programs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
