// Command deployster-kube talks to the API server of a cluster for deployster, which starts it and knows no
// client of Kubernetes. The first line of its stdin is the block of the host as JSON; it answers DEPLOYSTER-READY, and
// then speaks the messages of hosts over stdin and stdout.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/api"
	"deployster/kube/internal/place"
)

// version is that of the deployster that this program comes with. The linker sets it in a release (-X).
var version = "0.1.0"

func main() {
	if err := run(timing{place.DefaultTiming(), remote.DefaultTiming(), api.DefaultPluginLimit}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run does what the arguments of the process name.
func run(t timing) error {
	if len(os.Args) > 1 && os.Args[1] == api.RunPlugin {
		return api.Credentials(os.Args[2:], os.Stdout)
	}
	show := flag.Bool("version", false, "print the version")
	flag.Parse()
	if *show {
		fmt.Println(version)
		return nil
	}
	// A signal kills this process at once: actions continue, and the next process adopts them.
	return serve(context.Background(), os.Stdin, os.Stdout, t)
}

// maxBlock is the size limit of the first line, in bytes.
const maxBlock = 1 << 20

// timing is how long what this program does may take.
type timing struct {
	place  place.Timing
	remote remote.Timing
	plugin time.Duration
}

// serve answers one client. When the connection is lost, serve returns at once: the next process adopts what runs.
func serve(ctx context.Context, in io.ReadCloser, out io.Writer, t timing) error {
	stdin := bufio.NewReaderSize(in, 64<<10)
	line, err := runner.ReadLine(stdin, maxBlock)
	if errors.Is(err, io.EOF) {
		return errors.New("stdin is empty: deployster starts this program, for hosts with a kubernetes block")
	}
	if err != nil {
		return err
	}
	var block remote.Block
	if err := json.Unmarshal(line, &block); err != nil {
		return fmt.Errorf("the first line of stdin is not a block of a host: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	config, plugin, err := api.Config(block.Cluster, self, t.plugin)
	if err != nil {
		return err
	}
	client, err := api.New(config, block.Namespace)
	if err != nil {
		return fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	client.Plugin = plugin
	if _, err := fmt.Fprintln(out, remote.Ready); err != nil {
		return err
	}
	at := place.New(place.Options{Cluster: block.Cluster, Host: block.Host, API: client, Build: version, Timing: t.place,
		InPod: api.OfPod(config), Note: note})
	if err := remote.Serve(ctx, stdio{stdin, out, in}, at, t.remote); err != nil {
		return err
	}
	return at.Close()
}

// note prints a note for people, in one write: several Pods may have one at a time.
func note(text string) { fmt.Fprintln(os.Stderr, remote.NoteOf+text) }

// stdio is the connection to the client.
type stdio struct {
	io.Reader
	io.Writer
	io.Closer
}
