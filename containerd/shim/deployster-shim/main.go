// Command shim supervises one container, and has no other use. The deployster program
// itself can do the same, and does so if this program is not next to it: but two of these
// processes start for every container, and initialising the rest of deployster takes
// longer than all that they do.
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
