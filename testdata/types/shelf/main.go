// Command shelf is a type whose worker writes many files in one batch: files in the plug
// "world". A line in the file "batches" lists the names of each batch.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"deployster/protocol"
)

// Config is a file, and what happens while it is written.
type Config struct {
	Name string `json:"name" pattern:"^[a-z0-9]+$" deployster:"identity"`
	Does string `json:"does,omitempty" enum:"fail,die,wait,refuse"`
}

// State is a file that exists.
type State struct{}

type call = protocol.Call[Config, State]

type shelf struct{}

func (shelf) Read(_ context.Context, c *call) (*State, error) {
	_, err := os.Stat("/world/" + c.Config.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &State{}, err
}

func (s shelf) Write(ctx context.Context, c *call) error {
	return errors.Join(s.ActTogether(ctx, []*call{c}, func(int) {})...)
}

func (s shelf) Delete(ctx context.Context, c *call) error { return s.Write(ctx, c) }

func (shelf) Compare(*call, *State) []protocol.Reason { return nil }

// ActTogether creates the files, or removes them.
func (shelf) ActTogether(ctx context.Context, calls []*call, begin func(int)) []error {
	refused := func(c *call) bool { return c.Config.Does == "refuse" && len(calls) > 1 }
	if slices.ContainsFunc(calls, refused) {
		return slices.Repeat([]error{errors.New("the plan did not show all that this transaction would do")}, len(calls))
	}
	errs := make([]error, len(calls))
	var names []string
	for i, c := range calls {
		names = append(names, c.Config.Name)
		begin(i)
	}
	slices.Sort(names)
	if err := note(calls[0].Action + " " + strings.Join(names, " ")); err != nil {
		return []error{err}
	}
	for i, c := range calls {
		switch {
		case c.Config.Does == "die":
			os.Exit(3)
		case c.Config.Does == "fail":
			errs[i] = errors.New("there is no room for " + c.Config.Name)
		case c.Config.Does == "wait":
			select {
			case <-ctx.Done():
				return slices.Repeat([]error{context.Cause(ctx)}, len(calls))
			case <-time.After(time.Minute):
			}
		case c.Action == "delete":
			errs[i] = os.Remove("/world/" + c.Config.Name)
		default:
			errs[i] = os.WriteFile("/world/"+c.Config.Name, nil, 0o600)
		}
	}
	return errs
}

// note adds a line to the list of batches.
func note(line string) error {
	f, err := os.OpenFile("/world/batches", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

func main() {
	protocol.Serve(shelf{}, protocol.About{Label: "Shelf", Worker: true,
		Batch: &protocol.Batch{Actions: []string{"create", "delete"}, Max: 30},
		Plugs: map[string]protocol.PlugRequest{"world": {ContainerPath: "/world", Writable: true}}})
}
