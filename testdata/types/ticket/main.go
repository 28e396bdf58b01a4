// Command ticket is a type whose things get their names from somebody else: an office,
// the plug "office", that gives each ticket a number at random. What the number is has
// to be remembered, and so this type says "memory". A text that is not known yet is no
// reason not to say what will become of a ticket: it says "unknowns" too.
//
// The office has a file for each ticket, and a file "closed" when it is to fail:
// "before" it has made a ticket, "after" it, or "word" for an end without a word.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deployster/protocol"
)

const office = "/office"

// Config is what a user says of a ticket.
type Config struct {
	Text  string `json:"text"`
	Delay string `json:"delay,omitempty" deployster:"computed" doc:"how long the office takes, such as 2s"`
}

// State is what the office says of it.
type State struct {
	Number string `json:"number"`
	Text   string `json:"text"`
}

// Memory is what must not be forgotten.
type Memory struct {
	Number string `json:"number"`
}

type ticket struct{}

func main() {
	protocol.Serve(ticket{}, protocol.About{Label: "Ticket", Memory: true, Unknowns: true, Worker: true,
		Plugs: map[string]protocol.PlugRequest{"office": {ContainerPath: office, Writable: true}}})
}

type call = protocol.Call[Config, State]

// Read finds the ticket by its number. Where nobody knows whether one was made, no
// other is: a person says what became of it.
func (ticket) Read(_ context.Context, c *call) (*State, error) {
	var m Memory
	known, err := c.Recall(&m)
	if err != nil {
		return nil, err
	}
	if !known {
		if len(c.Unsettled) > 0 {
			return nil, protocol.Errorf(protocol.UnsettledError, "",
				"%s was begun, and whether the office has made a ticket is not known: look for it",
				strings.Join(c.Unsettled, ", "))
		}
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(office, m.Number))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &State{Number: m.Number, Text: string(text)}, err
}

// Write makes a ticket, or changes the text of the one that is there.
func (ticket) Write(ctx context.Context, c *call) error {
	closed, err := os.ReadFile(filepath.Join(office, "closed"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	why := strings.TrimSpace(string(closed))
	if why == "before" {
		c.Forget()
		return errors.New("the office is closed")
	}
	m := Memory{Number: rand.Text()}
	if c.Have != nil {
		m.Number = c.Have.Number
	}
	if err := os.WriteFile(filepath.Join(office, m.Number), []byte(c.Config.Text), 0o644); err != nil {
		return err
	}
	if d, err := time.ParseDuration(c.Config.Delay); err == nil {
		time.Sleep(d)
	}
	switch why {
	case "word":
		return errors.New("the office does not say what it has done")
	case "after":
		return errors.Join(c.Remember(m), errors.New("the office was closed when the ticket was made"))
	}
	return c.Remember(m)
}

// Delete gives the ticket back.
func (ticket) Delete(_ context.Context, c *call) error {
	var m Memory
	if known, err := c.Recall(&m); err != nil || !known {
		return err
	}
	err := os.Remove(filepath.Join(office, m.Number))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
