package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// Config is what a user writes about a command.
type Config struct {
	Name      string            `json:"name" minLength:"1" deployster:"identity"`
	Unless    string            `json:"unless" minLength:"1"`
	Command   string            `json:"command" minLength:"1"`
	Undo      string            `json:"undo,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	User      string            `json:"user,omitempty"`
	Directory string            `json:"directory,omitempty"`
	Timeout   string            `json:"timeout,omitempty"`
}

var docs = map[string]string{
	"name": "A name that distinguishes this resource from others of the machine.",
	"unless": "A shell command that ends with exit code 0 where there is nothing to do. It runs in every plan, apply and poll, " +
		"so it must change nothing, and be fast.",
	"command": "The shell command that is run otherwise, by /bin/sh. Its output is in the log. After it, unless must end with 0.",
	"undo": "The shell command that is run when the resource is removed. It is skipped where unless ends with 1: there is nothing " +
		"to undo. After it, unless must not end with 0. Without it nothing is run.",
	"env":       "Environment variables of all three commands.",
	"user":      "The user that runs all three; default: root.",
	"directory": "The directory in which all three run; default: /.",
	"timeout":   "How long command and undo may take, such as 90s or 10m, before they are ended; default: as long as deployster lets them.",
}

// State is what exists.
type State struct {
	Done bool `json:"done" doc:"unless ended with exit code 0"`
}

type call = protocol.Call[Config, State]

// Exec is the kind of commands.
type Exec struct{ Machine *access.Machine }

// New returns the kind exec.
func New(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Exec{m}, protocol.About{Label: "Command", Kind: "linux/exec", Worker: true, Unknowns: true, ByPerson: true,
		Docs:      docs,
		AutoEdges: []protocol.AutoEdge{{Kind: "linux/user", By: "/user"}, {Kind: "linux/directory", By: "/directory", Parents: true}}})
}

// notFound is the exit code of a shell that does not find a command.
const notFound = 127

func (e Exec) check(c *call) (limit time.Duration, err error) {
	if c.Config.Timeout != "" && !c.IsUnknown("/timeout") {
		limit, err = time.ParseDuration(c.Config.Timeout)
		if err != nil || limit <= 0 {
			return 0, protocol.Errorf(protocol.ConfigError, "/timeout", "%q is not a duration such as 90s or 10m", c.Config.Timeout)
		}
	}
	for name := range c.Config.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return 0, protocol.Errorf(protocol.ConfigError, "/env", "%q is not the name of an environment variable", name)
		}
	}
	if c.Config.Directory != "" && !strings.HasPrefix(c.Config.Directory, "/") {
		return 0, protocol.Errorf(protocol.ConfigError, "/directory", "%q is not an absolute path", c.Config.Directory)
	}
	return limit, nil
}

// run runs one of the commands.
func (e Exec) run(ctx context.Context, c *call, name, text string, out, log io.Writer) error {
	var env []string
	for _, key := range slices.Sorted(maps.Keys(c.Config.Env)) {
		env = append(env, key+"="+c.Config.Env[key])
	}
	return e.Machine.Run(ctx, access.Command{Args: []string{"/bin/sh", "-c", text}, Env: env, User: c.Config.User,
		Directory: c.Config.Directory, Stdout: out, Stderr: log, Description: name})
}

// Read runs unless; nil = the command is to be run.
func (e Exec) Read(ctx context.Context, c *call) (*State, error) {
	if _, err := e.check(c); err != nil {
		return nil, err
	}
	switch {
	case c.Intent == protocol.Absent && c.Config.Undo == "":
		return nil, nil // there is nothing to undo
	case slices.ContainsFunc([]string{"/unless", "/env", "/user", "/directory"}, c.IsUnknown):
		return nil, nil // unless cannot be run yet
	}
	err := e.run(ctx, c, "unless", c.Config.Unless, c.Log, c.Log)
	failed, exited := errors.AsType[*access.ExitError](err)
	switch {
	case err == nil:
		return &State{Done: true}, nil
	case ctx.Err() != nil, !exited:
		return nil, err
	case failed.Code < 0:
		return nil, protocol.Errorf(protocol.TransientError, "/unless", "it is not known whether the command is to be run: %s", err)
	case c.Intent == protocol.Absent && failed.Code != 1 && c.LastState != nil && c.LastState.Done && !slices.Contains(c.After, "delete"):
		c.Logf("unless ended with exit code %d, which does not report that there is nothing to undo: undo is run", failed.Code)
		return &State{Done: true}, nil
	case c.Intent == protocol.Absent && c.LastState != nil && c.LastState.Done:
		c.Logf("unless ended with exit code %d: there is nothing to undo", failed.Code)
	case failed.Code == notFound:
		c.Logf("unless ended with exit code %d: what it runs is not on this machine", notFound)
	}
	return nil, nil
}

// Write runs the command.
func (e Exec) Write(ctx context.Context, c *call) error {
	return e.act(ctx, c, "command", c.Config.Command)
}

// Delete runs undo.
func (e Exec) Delete(ctx context.Context, c *call) error { return e.act(ctx, c, "undo", c.Config.Undo) }

func (e Exec) act(ctx context.Context, c *call, name, text string) error {
	limit, err := e.check(c)
	if err != nil || text == "" {
		return err
	}
	timed := ctx
	if limit > 0 {
		var stop context.CancelFunc
		timed, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	err = e.run(timed, c, name, text, c.Out, c.Log)
	if timed.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%s was ended after %s, which is its timeout", name, c.Config.Timeout)
	}
	if err != nil {
		return err
	}
	done := e.run(ctx, c, "unless", c.Config.Unless, io.Discard, io.Discard) == nil
	switch {
	case name == "command" && !done && ctx.Err() == nil:
		return errors.New("the command ended with exit code 0, and unless does not end with 0 after it: correct one of the two")
	case name == "undo" && done:
		return errors.New("undo ended with exit code 0, and unless still ends with 0 after it: correct one of the two")
	}
	return nil
}
