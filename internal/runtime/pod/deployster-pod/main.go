// Command deployster-pod is the first process of each Pod that deployster makes: it runs
// the programs of the Pod's image on request.
package main

import (
	"os"

	"deployster/internal/runtime/pod"
)

func main() { os.Exit(pod.Main(os.Args[1:])) }
