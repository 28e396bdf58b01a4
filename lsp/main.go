// Command deployster-lsp helps editors with manifests, by the Language Server Protocol over stdin and stdout. It knows
// the library for that, so that deployster itself does not; `deployster lsp` starts it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"

	"deployster/lsp/internal/check"
	"deployster/lsp/internal/server"
)

// version is that of the deployster that this program comes with.
var version = "0.1.0"

func main() {
	log.SetFlags(0)
	show := flag.Bool("version", false, "print the version")
	flag.StringVar(&version, "for", version, "the VERSION of the deployster whose schemas count")
	cache := flag.String("cache", "", "the `DIRECTORY` where deployster keeps fetched modules")
	flag.Bool("stdio", true, "serve stdin and stdout, the only way; editors name it")
	flag.Parse()
	if *show {
		fmt.Println(version)
		return
	}
	home, _ := os.UserHomeDir() // without one there are no files of the user
	o := server.DefaultOptions(check.Env{Environ: os.Environ(), Home: home, Cache: *cache, Version: version})
	if err := server.Serve(context.Background(), os.Stdin, os.Stdout, o); err != nil {
		if !errors.Is(err, server.ErrEarlyExit) {
			log.Print(err)
		}
		os.Exit(1)
	}
}
