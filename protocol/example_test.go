package protocol_test

import (
	"context"
	"errors"
	"os"
	"strings"

	"deployster/protocol"
)

// FileConfig is what a user says of a file; FileState is what is there.
type (
	FileConfig struct {
		Path string `json:"path" pattern:"^[a-z.]+$" doc:"name of the file"`
		Text string `json:"text"`
	}
	FileState struct {
		Text string `json:"text"`
	}
)

// file is the type: three methods.
type file struct{}

type call = protocol.Call[FileConfig, FileState]

func (file) Read(_ context.Context, c *call) (*FileState, error) {
	text, err := os.ReadFile(c.Config.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return &FileState{Text: string(text)}, err
}

func (file) Write(_ context.Context, c *call) error {
	return os.WriteFile(c.Config.Path, []byte(c.Config.Text), 0o644)
}

func (file) Delete(_ context.Context, c *call) error { return os.Remove(c.Config.Path) }

// A whole type. Its main is protocol.Serve(file{}, about); Run is the same for
// tests.
func ExampleRun() {
	stdin := `{"name":"hello","type":"acme/file","config":{"path":"not.there","text":"hello"},"intent":"present"}`
	protocol.Run(context.Background(), file{}, protocol.About{Label: "File"},
		protocol.Process{Args: []string{"state"}, Stdin: strings.NewReader(stdin), Stdout: os.Stdout, Stderr: os.Stderr})
	// Output: {"status":"STALE","actions":[{"name":"create","args":["create"]}],"forecast":{"text":"hello"}}
}
