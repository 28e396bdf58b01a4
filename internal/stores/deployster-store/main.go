// Program deployster-store speaks with the services that keep shared states. The
// libraries for them are here, because they would have every command start later.
package main

import (
	"os"

	"deployster/internal/stores/program"
)

func main() { os.Exit(program.Main(os.Args[1:])) }
