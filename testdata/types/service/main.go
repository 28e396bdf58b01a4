// Command service is a type made with the package protocol: a file of JSON in the
// plug "world", with properties that may be left out and a secret.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"deployster/protocol"
)

// Config is what a user says of a service.
type Config struct {
	Name   string            `json:"name" pattern:"^[a-z]+$" deployster:"identity"`
	Tier   *string           `json:"tier,omitempty"`
	Env    map[string]string `json:"env,omitempty"`
	Secret *string           `json:"secret,omitempty" writeOnly:"true"`
}

// State is what can be read back of it.
type State struct {
	Tier *string           `json:"tier,omitempty"`
	Env  map[string]string `json:"env,omitempty"`
}

type call = protocol.Call[Config, State]

type service struct{}

func file(c *call) string { return "/world/" + c.Config.Name }

// Read says what is there.
func (service) Read(_ context.Context, c *call) (*State, error) {
	content, err := os.ReadFile(file(c))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s State
	return &s, json.Unmarshal(content, &s)
}

// Write makes it what the config says.
func (service) Write(_ context.Context, c *call) error {
	content, err := json.Marshal(c.Config)
	if err != nil {
		return err
	}
	return os.WriteFile(file(c), append(content, '\n'), 0o600)
}

// Delete removes it.
func (service) Delete(_ context.Context, c *call) error {
	if err := os.Remove(file(c)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Discover lists the services that exist.
func (service) Discover(_ context.Context, _ *call, tell func(Config, string) error) error {
	names, err := os.ReadDir("/world")
	if err != nil {
		return err
	}
	for _, name := range names {
		content, err := os.ReadFile("/world/" + name.Name())
		if err != nil {
			return err
		}
		var c Config
		if err := json.Unmarshal(content, &c); err != nil {
			return err
		}
		c.Secret = nil // what is secret is not listed
		if err := tell(c, name.Name()); err != nil {
			return err
		}
	}
	return nil
}

// Operations are what can be done with a service on request.
func (service) Operations() map[string]protocol.Operation {
	reads := false
	return map[string]protocol.Operation{
		"backup": {Label: "Write a copy", Changes: &reads, ConfigSchema: []byte(`{"type":"object","required":["to"],"properties":` +
			`{"to":{"type":"string","pattern":"^[a-z.]+$"},"token":{"type":"string","writeOnly":true}},"additionalProperties":false}`)},
		"promote": {Label: "Set another tier", ConfigSchema: []byte(`{"type":"object","required":["tier"],` +
			`"properties":{"tier":{"type":"string"}}}`)},
		"linger": {Label: "Take its time"},
	}
}

// Operate does it.
func (service) Operate(ctx context.Context, c *call) error {
	var in struct{ To, Tier string }
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return err
	}
	switch c.Operation {
	case "backup":
		c.Logf("a copy of tier %s goes to %s", *c.Have.Tier, in.To)
		content, err := os.ReadFile(file(c))
		if err != nil {
			return err
		}
		return os.WriteFile("/world/"+in.To, content, 0o600)
	case "promote":
		c.Config.Tier = &in.Tier
		return service{}.Write(ctx, c)
	}
	if err := os.WriteFile("/world/lingers", nil, 0o600); err != nil {
		return err
	}
	for {
		if _, err := os.Stat("/world/go"); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func main() {
	protocol.Serve(service{}, protocol.About{Label: "Service", Actions: []string{"create", "update", "delete"},
		Plugs: map[string]protocol.PlugRequest{"world": {ContainerPath: "/world", Writable: true}}})
}
