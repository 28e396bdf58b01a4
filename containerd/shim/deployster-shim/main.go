// Command shim is the process that looks after one container, and nothing else.
// The whole of deployster can be that too, and is where this is not beside it:
// but two of these are started for every container, and what the rest of
// deployster makes ready at its start costs more than all that they do.
package main

import (
	"fmt"
	"os"

	"deployster/containerd/shim"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == shim.LayoutFlag {
		fmt.Println(shim.Layout)
		return
	}
	shim.Run()
}
