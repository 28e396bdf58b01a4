// Command deployster-pack compresses programs for hosts, each into a file next to it: deployster-pack [-best] PROGRAM...
//
// With -best it takes ten times as long for an eighth less, as a release does.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"deployster/internal/base/packed"
)

func main() {
	best := flag.Bool("best", false, "take ten times as long for an eighth less")
	flag.Parse()
	var errs []error
	for _, program := range flag.Args() {
		content, err := packed.Pack(program, *best)
		if err == nil {
			err = os.WriteFile(program+packed.Ending, content, 0o644)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: deployster-pack [-best] PROGRAM...", err)
		os.Exit(1)
	}
}
