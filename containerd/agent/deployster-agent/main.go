// Command agent is the first process of a container that queries share: see deployster/containerd/agent. It is also the
// first program that a host without deployster runs, and restores the others there: see deployster/internal/base/packed.
package main

import (
	"os"

	"deployster/containerd/agent"
	"deployster/internal/base/packed"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == packed.Flag {
		if err := packed.Restore(os.Args[2:], os.Stdin); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	if len(os.Args) > 3 && os.Args[1] == agent.EnvFlag {
		os.Exit(agent.Become(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) != 2 {
		_, _ = os.Stderr.WriteString("This program is started by deployster itself, in containers.\n")
		os.Exit(2)
	}
	os.Exit(agent.Serve(os.Args[1]))
}
