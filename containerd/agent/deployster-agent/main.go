// Command agent is the first process of a container that queries share, and has no other
// use: see deployster/containerd/agent.
package main

import (
	"os"

	"deployster/containerd/agent"
)

func main() {
	if len(os.Args) > 3 && os.Args[1] == agent.EnvFlag {
		os.Exit(agent.Become(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) != 2 {
		_, _ = os.Stderr.WriteString("This program is started by deployster itself, in containers.\n")
		os.Exit(2)
	}
	os.Exit(agent.Serve(os.Args[1]))
}
