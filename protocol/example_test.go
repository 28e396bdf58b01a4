package protocol_test

import (
	"context"
	"errors"
	"fmt"
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

// What a type is, deployster learns from init: the schemas are made of the structs.
func ExampleRun_init() {
	protocol.Run(context.Background(), file{}, protocol.About{Label: "File"},
		protocol.Process{Stdin: strings.NewReader(`{"name":"hello","type":"acme/file"}`), Stdout: os.Stdout, Stderr: os.Stderr})
	// Output: {"protocol":2,"label":"File","config_schema":{"additionalProperties":false,"properties":{"path":{"description":"name of the file","pattern":"^[a-z.]+$","type":"string"},"text":{"type":"string"}},"required":["path","text"],"type":"object"},"state_schema":{"additionalProperties":false,"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"},"state_action":{"args":["state"]},"absent":true}
}

// The schema of a config has what its tags say.
func ExampleSchemaOf() {
	type disk struct {
		Name string `json:"name" pattern:"^[a-z]+$" deployster:"identity"`
		Size int    `json:"size" minimum:"1" default:"10" doc:"in GiB"`
	}
	schema, err := protocol.SchemaOf[disk]()
	fmt.Println(string(schema), err)
	// Output: {"additionalProperties":false,"properties":{"name":{"pattern":"^[a-z]+$","type":"string"},"size":{"default":10,"description":"in GiB","minimum":1,"type":"integer"}},"required":["name"],"type":"object"} <nil>
}

// An error says whose fault it is.
func ExampleErrorf() {
	err := protocol.Errorf(protocol.ConfigError, "/size", "a disk has %d GiB at the most", 64)
	fmt.Println(err)
	// Output: config error: a disk has 64 GiB at the most
}
