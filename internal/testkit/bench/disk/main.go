// Command disk is the resource type of the benchmark's large manifests, written
// as its users write theirs: a file for each resource, with what the config says.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"deployster/protocol"
	"deployster/protocol/dirwatch"
)

// Config is what a manifest says of a disk.
type Config struct {
	Name  string `json:"name"`
	Zone  string `json:"zone"`
	After string `json:"after,omitempty" doc:"the disk that comes before it"`
}

// State is what is there: the same.
type State = Config

type call = protocol.Call[Config, State]

type disk struct{}

func file(c *call) string { return "/world/" + c.Config.Name }

// Read says what is there; nil when nothing is.
func (disk) Read(_ context.Context, c *call) (*State, error) {
	text, err := os.ReadFile(file(c))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s State
	return &s, json.Unmarshal(text, &s)
}

// Write makes it what the config says.
func (disk) Write(_ context.Context, c *call) error {
	text, err := json.Marshal(c.Config)
	if err != nil {
		return err
	}
	return os.WriteFile(file(c), text, 0o644)
}

// files tells of changes to all disks that are watched.
var files dirwatch.Watcher

// Watch tells when one may have changed.
func (disk) Watch(ctx context.Context, c *call, tell func(detail string)) error {
	return files.Watch(ctx, file(c), tell)
}

// quiet is a disk that tells of nothing: it is looked at when its time is up.
type quiet struct{ d disk }

// Read says what is there.
func (q quiet) Read(ctx context.Context, c *call) (*State, error) { return q.d.Read(ctx, c) }

// Write makes it what the config says.
func (q quiet) Write(ctx context.Context, c *call) error { return q.d.Write(ctx, c) }

// floods is a disk that tells of a change 10,000 times a second while there is a file
// flood beside it.
type floods struct{ disk }

// Watch tells that often.
func (floods) Watch(ctx context.Context, _ *call, tell func(detail string)) error {
	tell("")
	for tick := time.NewTicker(time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if _, err := os.Stat("/world/flood"); err == nil {
			for range 10 {
				tell("")
			}
		}
	}
}

// The program is the type that its name says.
func main() {
	about := protocol.About{Label: "Disk", Worker: true,
		Plugs: map[string]protocol.PlugRequest{"world": {ContainerPath: "/world", Writable: true}}}
	switch filepath.Base(os.Args[0]) {
	case "quiet":
		protocol.Serve(quiet{}, about)
	case "floods":
		protocol.Serve(floods{}, about)
	default:
		protocol.Serve(disk{}, about)
	}
}
