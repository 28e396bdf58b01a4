package text

import (
	"context"
	"errors"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// JSONConfig is what a user writes about a value in a JSON file.
type JSONConfig struct {
	Path     string   `json:"path" pattern:"^/" deployster:"identity"`
	Pointer  string   `json:"pointer" pattern:"^(/([^/~]|~[01])*)+$" deployster:"identity"`
	Value    any      `json:"value"`
	Validate []string `json:"validate,omitempty"`
}

var jsonDocs = map[string]string{
	"path": "The absolute path of the file, which must exist; a link is followed. An empty file counts as {}.",
	"pointer": "Where the value is, as a JSON pointer: /log-opts/max-size. It ends with a name of an object, and objects on the way are " +
		"made. Elements of a list have no lasting name: give the whole list as the value.",
	"value":    "The value: text, a number, a bool, a list or an object. What is in an object is the whole of it.",
	"validate": placeDocs(nil)["validate"],
}

// JSONState is what exists.
type JSONState struct {
	Value any `json:"value" doc:"the value at the pointer"`
}

type jsonCall = protocol.Call[JSONConfig, JSONState]

// JSON is the kind of values in JSON files.
type JSON struct{ Machine *access.Machine }

// NewJSON returns the kind json.
func NewJSON(m *access.Machine) protocol.Kind {
	return protocol.NewKind(JSON{m}, protocol.About{Label: "Value in a JSON file", Kind: "linux/json", Worker: true, Unknowns: true,
		AutoEdges: edges(), Docs: jsonDocs})
}

func (k JSON) check(c *jsonCall) (textFile, error) {
	if c.Config.Value == nil && !c.IsUnknown("/value") && c.Intent == protocol.Present {
		return textFile{}, protocol.Errorf(protocol.ConfigError, "/value", "null is not a value here: remove the resource to have none")
	}
	f, err := openText(k.Machine, c.Config.Path)
	return f, errors.Join(err, replace.CheckValidate(c.Config.Validate))
}

// Read returns the value, or nil.
func (k JSON) Read(_ context.Context, c *jsonCall) (*JSONState, error) {
	f, err := k.check(c)
	if err != nil {
		return nil, err
	}
	d, exists, err := f.read()
	if err != nil || !exists {
		return nil, err
	}
	tree, err := parseJSON(f.path, d.String())
	if err != nil {
		return nil, err
	}
	value, err := tree.at(c.Config.Pointer)
	if err != nil || value == nil {
		return nil, err
	}
	return &JSONState{Value: *value}, nil
}

// Plan adds that the file is missing.
func (k JSON) Plan(_ context.Context, c *jsonCall, have *JSONState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if plan == nil || err != nil || have != nil {
		return plan, err
	}
	f, err := openText(k.Machine, c.Config.Path)
	if err != nil {
		return nil, err
	}
	if _, exists, err := f.read(); err == nil && !exists {
		plan.Reasons = append(plan.Reasons, notYet(f.path))
	}
	return plan, nil
}

// Write sets the value, and keeps the comments, the order and the spacing of all others.
func (k JSON) Write(ctx context.Context, c *jsonCall) error {
	return k.edit(ctx, c, func(tree *jsonTree) error { return tree.set(c.Config.Pointer, c.Config.Value) })
}

// Delete removes the value, with its name. Objects around it stay, also where they are empty now.
func (k JSON) Delete(ctx context.Context, c *jsonCall) error {
	f, err := k.check(c)
	if err != nil {
		return err
	}
	if _, exists, err := f.read(); err != nil || !exists {
		return err
	}
	return k.edit(ctx, c, func(tree *jsonTree) error { return tree.remove(c.Config.Pointer) })
}

func (k JSON) edit(ctx context.Context, c *jsonCall, change func(*jsonTree) error) error {
	f, err := k.check(c)
	if err != nil {
		return err
	}
	return f.edit(ctx, c.Config.Validate, func(d document) (document, error) {
		tree, err := parseJSON(f.path, d.String())
		if err != nil {
			return nil, err
		}
		if err := change(tree); err != nil {
			return nil, err
		}
		return parse(tree.String()), nil
	})
}

// Watch reports changes of the file.
func (k JSON) Watch(ctx context.Context, c *jsonCall, tell func(detail string)) error {
	if _, err := k.check(c); err != nil {
		return err
	}
	return files.WatchFollowed(ctx, k.Machine, c.Config.Path, tell)
}
