// Command disk is the resource type of the benchmark's large manifests, written
// as its users write theirs: a file for each resource, with what the config says.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

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

func main() {
	protocol.Serve(disk{}, protocol.About{Label: "Disk", Worker: true,
		Plugs: map[string]protocol.PlugRequest{"world": {ContainerPath: "/world", Writable: true}}})
}
