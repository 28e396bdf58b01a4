package accounts

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// KeyConfig is what a user writes about a key that may log in.
type KeyConfig struct {
	User    string   `json:"user" pattern:"^[a-z_][a-z0-9_.-]*$" deployster:"identity"`
	Key     string   `json:"key" minLength:"1" deployster:"identity"`
	Options []string `json:"options,omitempty" minLength:"1" pattern:"^[^\n]*$"`
	Comment string   `json:"comment,omitempty" pattern:"^[^\n]*$" deployster:"computed"`
}

var keyDocs = map[string]string{
	"user": "The user whose account the key opens.",
	"key":  "The public key: its type and its text, without a comment, such as ssh-ed25519 AAAA....",
	"options": "What the key may do, as in authorized_keys: no-pty, from=\"10.0.0.*\". Left out, the key has no options: others are " +
		"removed.",
	"comment": "The comment behind the key. Left out, it is not managed.",
}

// KeyState is what exists.
type KeyState struct {
	User    string   `json:"user" doc:"the user in the config"`
	Key     string   `json:"key" doc:"the public key"`
	Options []string `json:"options" doc:"what the key may do"`
	Comment string   `json:"comment" doc:"the comment behind the key"`

	faults []protocol.Reason
}

type keyCall = protocol.Call[KeyConfig, KeyState]

// Key is the kind of keys in authorized_keys.
type Key struct{ machine *access.Machine }

// NewKey returns the kind ssh_key.
func NewKey(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Key{m}, protocol.About{Label: "SSH key", Kind: "linux/ssh_key", Worker: true, Unknowns: true, Docs: keyDocs,
		AutoEdges: []protocol.AutoEdge{{Kind: "linux/user", By: "/user"}}})
}

// checkKey returns an error for what is not a public key in the one way to write it.
func checkKey(text string) error {
	f := strings.Fields(text)
	if len(f) > 2 && strings.Join(f[:2], " ") != text {
		if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text)); err == nil {
			return protocol.Errorf(protocol.ConfigError, "/key", "the key has its type and its text alone: options and comment are "+
				"keys of their own")
		}
	}
	if len(f) != 2 || strings.Join(f, " ") != text {
		return protocol.Errorf(protocol.ConfigError, "/key",
			"this is not a public key: it has a type and a text, with one blank between them")
	}
	blob, err := base64.StdEncoding.DecodeString(f[1])
	if err != nil {
		return protocol.Errorf(protocol.ConfigError, "/key", "the text of the key is not valid: %s", err)
	}
	key, err := ssh.ParsePublicKey(blob)
	switch {
	case err != nil:
		return protocol.Errorf(protocol.ConfigError, "/key", "the text of the key is not valid: %s", err)
	case key.Type() != f[0]:
		return protocol.Errorf(protocol.ConfigError, "/key", "the key is declared as %s, and its text is one of %s", f[0], key.Type())
	}
	return nil
}

// entry is a line of authorized_keys that has a key.
type entry struct {
	key     string // type and text
	comment string
	options []string
}

// parseEntry reads a line; ok is false if it has no key.
func parseEntry(line string) (e entry, ok bool) {
	key, comment, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil {
		return entry{}, false
	}
	return entry{key.Type() + " " + base64.StdEncoding.EncodeToString(key.Marshal()), comment, options}, true
}

func (e entry) String() string {
	parts := []string{}
	for _, part := range []string{strings.Join(e.options, ","), e.key, e.comment} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}

// Read returns the key's line, or nil.
func (k Key) Read(_ context.Context, c *keyCall) (*KeyState, error) {
	if err := checkKey(c.Config.Key); err != nil {
		return nil, err
	}
	for i, option := range c.Config.Options {
		if strings.Count(option, `"`)%2 != 0 {
			return nil, protocol.Errorf(protocol.ConfigError, fmt.Sprintf("/options/%d", i), "a quotation mark in %s is not closed", option)
		}
	}
	h, err := openHome(k.machine, c.Config.User)
	if h == nil || err != nil {
		return nil, err
	}
	defer h.close()
	text, err := h.read()
	if err != nil {
		return nil, err
	}
	var state *KeyState
	times := 0
	for line := range strings.Lines(text) {
		e, ok := parseEntry(line)
		if !ok || e.key != c.Config.Key {
			continue
		}
		if times++; state == nil { // sshd takes the first one
			state = &KeyState{User: c.Config.User, Key: e.key, Options: append([]string{}, e.options...), Comment: e.comment}
		}
	}
	if state == nil {
		return nil, nil
	}
	if times > 1 {
		state.faults = append(state.faults, protocol.Reason{Message: fmt.Sprintf("the key is in the file %d times", times)})
	}
	for _, fault := range h.faults() {
		state.faults = append(state.faults, protocol.Reason{Message: fault})
	}
	return state, nil
}

// Plan compares options and comment, and what would keep sshd from reading the file.
func (k Key) Plan(_ context.Context, c *keyCall, have *KeyState) (*protocol.Plan, error) {
	forecast := map[string]any{"user": c.Config.User, "key": c.Config.Key, "options": append([]string{}, c.Config.Options...)}
	plan := &protocol.Plan{Forecast: forecast, Actions: []protocol.Action{{Name: "update"}}}
	if c.Config.Comment != "" {
		forecast["comment"] = c.Config.Comment
	}
	if have == nil {
		plan.Actions[0].Name = "create"
		d, err := read(k.machine)
		if err == nil && d.user(c.Config.User) == nil {
			plan.Reasons = []protocol.Reason{{Path: "/user", Message: "there is no user " + c.Config.User + " on this machine yet"}}
		}
		return plan, err
	}
	plan.Reasons = have.faults
	switch {
	case c.IsUnknown("/options"):
		delete(forecast, "options")
		plan.Unknown = append(plan.Unknown, "/options")
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/options", Message: "known only after other actions"})
	case !slices.Equal(have.Options, c.Config.Options):
		r := protocol.Reason{Path: "/options"}
		r.Have, _ = json.Marshal(have.Options)
		r.Want, _ = json.Marshal(forecast["options"])
		plan.Reasons = append(plan.Reasons, r)
	}
	if c.Config.Comment != "" && c.Config.Comment != have.Comment {
		r := protocol.Reason{Path: "/comment"}
		r.Have, _ = json.Marshal(have.Comment)
		r.Want, _ = json.Marshal(c.Config.Comment)
		plan.Reasons = append(plan.Reasons, r)
	}
	if len(plan.Reasons) == 0 {
		return nil, nil
	}
	return plan, nil
}

// Write adds the key's line, or replaces it.
func (k Key) Write(ctx context.Context, c *keyCall) error {
	return k.edit(ctx, c, true)
}

// Delete removes the key's line, and no other.
func (k Key) Delete(ctx context.Context, c *keyCall) error {
	return k.edit(ctx, c, false)
}

func (k Key) edit(ctx context.Context, c *keyCall, present bool) error {
	h, err := openHome(k.machine, c.Config.User)
	switch {
	case err != nil:
		return err
	case h == nil && present:
		return fmt.Errorf("there is no user %s on this machine: correct /user, or depend on the resource that makes the user",
			c.Config.User)
	case h == nil:
		return nil
	}
	defer h.close()
	if present {
		if err := h.make(); err != nil {
			return err
		}
	} else if h.dir == nil {
		return nil
	}
	unlock, err := replace.Lock(ctx, k.machine, h.path())
	if err != nil {
		return err
	}
	defer unlock()
	text, err := h.read()
	if err != nil {
		return err
	}
	return h.write(ctx, edited(text, c.Config, present))
}

// edited returns the text of authorized_keys with the key's line as the config has it, or without it.
func edited(text string, c KeyConfig, present bool) string {
	var b strings.Builder
	done := !present
	for line := range strings.Lines(text) {
		e, ok := parseEntry(line)
		switch {
		case !ok || e.key != c.Key:
			b.WriteString(line)
			if !strings.HasSuffix(line, "\n") {
				b.WriteByte('\n')
			}
		case !done:
			done = true
			if c.Comment != "" {
				e.comment = c.Comment
			}
			e.options = c.Options
			b.WriteString(e.String() + "\n")
		}
	}
	if !done {
		b.WriteString(entry{c.Key, c.Comment, c.Options}.String() + "\n")
	}
	return b.String()
}

// Watch reports changes of the file. Its place is known while the user exists.
func (k Key) Watch(ctx context.Context, c *keyCall, tell func(string)) error {
	users := func(ctx context.Context, tell func(string)) error {
		return files.Watch(ctx, k.machine, passwdFile, tell)
	}
	d, err := read(k.machine)
	if err != nil {
		return err
	}
	u := d.user(c.Config.User)
	if u == nil {
		return users(ctx, tell)
	}
	return files.WatchAll(ctx, tell, users, func(ctx context.Context, tell func(string)) error {
		return files.Watch(ctx, k.machine, u.home+"/.ssh/authorized_keys", tell)
	})
}

// Discover lists the keys of all users.
func (k Key) Discover(_ context.Context, c *keyCall, tell func(KeyConfig, string) error) error {
	d, err := read(k.machine)
	if err != nil {
		return err
	}
	for _, u := range d.users {
		if c.Config.User != "" && u.name != c.Config.User || u.home == "/" || u.home == "" {
			continue
		}
		h, err := openHome(k.machine, u.name)
		if h == nil || err != nil {
			continue // it has no keys that sshd would take
		}
		text, err := h.read()
		h.close()
		if err != nil {
			continue
		}
		for line := range strings.Lines(text) {
			if e, ok := parseEntry(line); ok {
				if err := tell(KeyConfig{User: u.name, Key: e.key, Options: e.options, Comment: e.comment}, u.name+"_"+
					e.comment); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
