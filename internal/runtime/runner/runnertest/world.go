package runnertest

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"sync"

	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// World has the things that the type World.Program manages: each has a name and a
// config. Program answers as a careful image does, and can be made to fail.
type World struct {
	mu     sync.Mutex
	things map[string]string         // name -> config
	log    []string                  // "make x", in the order in which actions ended
	fail   map[string]bool           // things whose actions do nothing and end with exit code 7
	before func(name, action string) // called when an action begins
}

// NewWorld returns an empty World.
func NewWorld() *World {
	return &World{things: map[string]string{}, fail: map[string]bool{}}
}

// Things returns a copy of all things.
func (w *World) Things() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.things)
}

// Set creates or changes a thing, or removes it when config is empty, without an action
// of the type.
func (w *World) Set(name, config string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if config == "" {
		delete(w.things, name)
		return
	}
	w.things[name] = config
}

// Fail makes a thing's actions fail, or succeed again.
func (w *World) Fail(name string, fail bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail[name] = fail
}

// Watch sets a function that is called when an action begins.
func (w *World) Watch(before func(name, action string)) { w.before = before }

// TakeLog returns the actions that were completed since the last call.
func (w *World) TakeLog() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	log := w.log
	w.log = nil
	return log
}

// Program is the image of the type that manages the things.
func (w *World) Program(_ context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	var in protocol.ActionInput
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return 90
	}
	if len(s.Args) == 0 {
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,"state_action":{"args":["state"]}}`)
		return 0
	}
	if s.Args[0] == "state" {
		_ = json.NewEncoder(stdout).Encode(w.look(in.StateInput))
		return 0
	}
	if w.before != nil {
		w.before(in.Name, s.Args[0])
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail[in.Name] {
		_, _ = io.WriteString(stderr, "no room\n")
		return 7
	}
	w.log = append(w.log, s.Args[0]+" "+in.Name)
	if s.Args[0] == "remove" {
		delete(w.things, in.Name)
	} else {
		w.things[in.Name] = string(in.Config)
	}
	return 0
}

// look returns the answer to the state step.
func (w *World) look(in protocol.StateInput) map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()
	have, there := w.things[in.Name]
	action := func(name string) []any { return []any{map[string]any{"name": name, "args": []string{name}}} }
	switch {
	case in.Intent == protocol.Absent && !there:
		return map[string]any{"status": "MISSING"}
	case in.Intent == protocol.Absent:
		return map[string]any{"status": "STALE", "staleState": json.RawMessage(have), "actions": action("remove")}
	case !there:
		return map[string]any{"status": "STALE", "actions": action("make")}
	case have == string(in.Config):
		return map[string]any{"status": "VALID", "state": json.RawMessage(have)}
	}
	return map[string]any{"status": "STALE", "staleState": json.RawMessage(have), "actions": action("change")}
}
