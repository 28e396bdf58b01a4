// Command note is a resource type: a text file in the plug "notes". It needs nothing but
// the standard library. The package protocol of deployster's source does more: schemas
// from types, workers, and programs that report changes.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// description answers init: what is this type, and how is it queried?
const description = `{ "protocol": 2, "label": "Note", "absent": true, "identity": ["/name"], "reuse": true, "reuse_actions": true,
  "state_action": { "args": ["state"] }, "plugs": { "notes": { "container_path": "/notes" } },
  "config_schema": { "type": "object", "additionalProperties": false, "required": ["name", "text"], "properties": {
    "name": { "type": "string", "pattern": "^[a-z]+$" }, "text": { "type": "string", "description": "its content" } } },
  "state_schema": { "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } } } }`

// input is what each run gets on stdin.
type input struct {
	Intent string // present or absent
	Config struct{ Name, Text string }
}

type object = map[string]any

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err) // users read it
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		fmt.Println(description)
		return nil
	}
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	file := "/notes/" + in.Config.Name
	switch args[0] {
	case "state":
		answer, err := state(in, file)
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(answer)
		}
		return err
	case "write":
		return os.WriteFile(file, []byte(in.Config.Text), 0o644)
	case "remove":
		return os.Remove(file)
	}
	return fmt.Errorf("unknown action %s", args[0])
}

// state reports what exists and what would correct it. It changes nothing.
func state(in input, file string) (object, error) {
	text, err := os.ReadFile(file)
	exists := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case in.Intent == "absent" && !exists:
		return object{"status": "MISSING"}, nil
	case in.Intent == "present" && exists && string(text) == in.Config.Text:
		return object{"status": "VALID", "state": object{"text": string(text)}}, nil
	}
	action := "write"
	if in.Intent == "absent" {
		action = "remove"
	}
	answer := object{"status": "STALE", "actions": []object{{"name": action, "args": []string{action}}}}
	if exists {
		answer["staleState"] = object{"text": string(text)}
	}
	return answer, nil
}
