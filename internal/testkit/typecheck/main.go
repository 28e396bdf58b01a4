// Command typecheck reports whether packages and their tests have types that fit on another system, with all that they
// import. Nothing is compiled, which takes ten times as long.
//
// Usage: typecheck SYSTEM/ARCHITECTURE MODULE PACKAGE...
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: typecheck SYSTEM/ARCHITECTURE MODULE PACKAGE...")
		os.Exit(2)
	}
	system, arch, _ := strings.Cut(os.Args[1], "/")
	read := packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
		packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo
	list, err := packages.Load(&packages.Config{Mode: read, Tests: true, Dir: os.Args[2],
		Env: append(os.Environ(), "GOOS="+system, "GOARCH="+arch)}, os.Args[3:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(1)
	}
	if len(list) == 0 || packages.PrintErrors(list) > 0 {
		os.Exit(1)
	}
}
