// Command deployster-layout packs a static program as an image that comes with deployster:
// deployster-layout [-type] DIR NAME ARCH=PROGRAM...
//
// With -type it is the image of types, and what their program answers to init is kept with it, if the
// program of this machine's system and architecture is given.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"

	"deployster/containerd/bundled"
)

func main() {
	isType := flag.Bool("type", false, "keep what the program answers to init")
	flag.Parse()
	if flag.NArg() < 3 {
		fmt.Fprintln(os.Stderr, "usage: deployster-layout [-type] DIR NAME ARCH=PROGRAM...")
		os.Exit(2)
	}
	if err := write(flag.Arg(0), flag.Arg(1), flag.Args()[2:], *isType); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(dir, name string, args []string, isType bool) (err error) {
	programs := map[string]string{}
	for _, arg := range args {
		arch, program, _ := strings.Cut(arg, "=")
		programs[arch] = program
	}
	var answers *bundled.Answers
	if program := programs[runtime.GOARCH]; isType && program != "" && runtime.GOOS == "linux" {
		if answers, err = bundled.Query(name, program); err != nil {
			return err
		}
	}
	return bundled.Write(dir, name, programs, answers)
}
