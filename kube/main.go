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

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/api"
	"deployster/kube/internal/place"
)

// version is that of the deployster that this program comes with. The linker sets it in a release (-X).
var version = "0.1.0"

func main() {
	show := flag.Bool("version", false, "print the version")
	flag.Parse()
	if *show {
		fmt.Println(version)
		return
	}
	// A signal kills this process at once: actions continue, and the next process adopts them.
	if err := serve(context.Background(), os.Stdin, os.Stdout, place.DefaultTiming(), remote.DefaultTiming()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// maxBlock is the size limit of the first line, in bytes.
const maxBlock = 1 << 20

// serve answers one client. When the connection is lost, serve returns at once: the next process adopts what runs.
func serve(ctx context.Context, in io.ReadCloser, out io.Writer, t place.Timing, r remote.Timing) error {
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
	config, err := api.Config(block.Cluster)
	if err != nil {
		return err
	}
	client, err := api.New(config, block.Namespace)
	if err != nil {
		return fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	if _, err := fmt.Fprintln(out, remote.Ready); err != nil {
		return err
	}
	at := place.New(place.Options{Cluster: block.Cluster, Host: block.Host, API: client, Build: version, Timing: t,
		InPod: api.OfPod(config), Note: note})
	if err := remote.Serve(ctx, stdio{stdin, out, in}, at, r); err != nil {
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
