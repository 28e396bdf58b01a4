// Program deployster-store connects to the services that keep shared states. It links
// their libraries, which would make every deployster command start more slowly.
package main

import (
	"os"

	"deployster/internal/runtime/stores/program"
)

func main() { os.Exit(program.Main(os.Args[1:])) }
