// Command note is a resource type in Go: a text file in the plug "notes".
package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"deployster/protocol"
	"deployster/protocol/dirwatch"
)

// Config is what a user says of a note.
type Config struct {
	Name string `json:"name" pattern:"^[a-z]+$" deployster:"identity"`
	Text string `json:"text" doc:"what stands in it"`
}

// State is what exists.
type State struct {
	Text string `json:"text"`
}

type call = protocol.Call[Config, State]

type note struct{}

func file(c *call) string { return "/notes/" + c.Config.Name }

// Read says what exists; nil when nothing does.
func (note) Read(_ context.Context, c *call) (*State, error) {
	text, err := os.ReadFile(file(c))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &State{Text: string(text)}, err
}

// Write makes it what the config says.
func (note) Write(_ context.Context, c *call) error {
	if err := os.WriteFile(file(c)+".new", []byte(c.Config.Text), 0o644); err != nil {
		return err
	}
	return os.Rename(file(c)+".new", file(c))
}

// Delete removes it.
func (note) Delete(_ context.Context, c *call) error {
	if err := os.Remove(file(c)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// files tells of changes to all notes that are watched.
var files dirwatch.Watcher

// Watch tells when it may have changed.
func (note) Watch(ctx context.Context, c *call, tell func(detail string)) error {
	return files.Watch(ctx, file(c), tell)
}

func main() {
	protocol.Serve(note{}, protocol.About{Label: "Note", Worker: true,
		Plugs: map[string]protocol.PlugRequest{"notes": {ContainerPath: "/notes", Writable: true}}})
}
