package text

import (
	"context"
	"errors"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// INIConfig is what a user writes about a key of a file with sections.
type INIConfig struct {
	Path     string   `json:"path" pattern:"^/" deployster:"identity"`
	Section  string   `json:"section" pattern:"^[^\\]\\r\\n]*$" deployster:"identity"`
	Key      string   `json:"key" pattern:"^[^\\s=:;#\\[]([^\\r\\n=:]*[^\\s=:])?$" deployster:"identity"`
	Value    string   `json:"value" pattern:"^[^\\r\\n]*$"`
	Validate []string `json:"validate,omitempty"`
}

var iniDocs = map[string]string{
	"path":    placeDocs(nil)["path"],
	"section": `The name of the section, without its brackets; "" is what precedes the first section.`,
	"key":     "The key, exactly as it is written.",
	"value": "All that follows the = or the :, without blanks around it. Quotes belong to the value, and so does a comment on " +
		"the same line, since programs differ in whether they read it as one.",
	"validate": placeDocs(nil)["validate"],
}

// INIState is what exists.
type INIState struct {
	Value string `json:"value" doc:"the value of the key"`
}

type iniCall = protocol.Call[INIConfig, INIState]

// INI is the kind of keys in files with sections.
type INI struct{ Machine *access.Machine }

// NewINI returns the kind ini.
func NewINI(m *access.Machine) protocol.Kind {
	return protocol.NewKind(INI{m}, protocol.About{Label: "Key of an INI file", Kind: "linux/ini", Worker: true, Unknowns: true,
		AutoEdges: edges(), Docs: iniDocs})
}

func (k INI) check(c *iniCall) (textFile, error) {
	if strings.TrimSpace(c.Config.Value) != c.Config.Value {
		return textFile{}, protocol.Errorf(protocol.ConfigError, "/value", "%q has blanks around it, which are not a part of any value",
			c.Config.Value)
	}
	if strings.TrimSpace(c.Config.Section) != c.Config.Section {
		return textFile{}, protocol.Errorf(protocol.ConfigError, "/section", "%q has blanks around it", c.Config.Section)
	}
	if strings.HasSuffix(c.Config.Value, `\`) {
		return textFile{}, protocol.Errorf(protocol.ConfigError, "/value", "%q ends with a backslash, which would join the next line to it",
			c.Config.Value)
	}
	f, err := openText(k.Machine, c.Config.Path)
	return f, errors.Join(err, replace.CheckValidate(c.Config.Validate))
}

// Read returns the key, or nil.
func (k INI) Read(_ context.Context, c *iniCall) (*INIState, error) {
	f, err := k.check(c)
	if err != nil {
		return nil, err
	}
	d, exists, err := f.read()
	if err != nil || !exists {
		return nil, err
	}
	at, err := iniKey(c.Config, d)
	if err != nil || at < 0 {
		return nil, err
	}
	return &INIState{Value: iniValue(d[at].text)}, nil
}

// Plan adds that the file or the section is missing.
func (k INI) Plan(_ context.Context, c *iniCall, have *INIState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if plan == nil || err != nil || have != nil {
		return plan, err
	}
	f, err := openText(k.Machine, c.Config.Path)
	if err != nil {
		return nil, err
	}
	d, exists, err := f.read()
	switch {
	case err != nil:
		return nil, err
	case !exists:
		plan.Reasons = append(plan.Reasons, notYet(f.path))
	case c.Config.Section != "" && len(iniSections(d, c.Config.Section)) == 0:
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/section",
			Message: "the file has no section [" + c.Config.Section + "], and one is added at its end"})
	}
	return plan, nil
}

// Write sets the key, and keeps all other bytes.
func (k INI) Write(ctx context.Context, c *iniCall) error {
	f, err := k.check(c)
	if err != nil {
		return err
	}
	return f.edit(ctx, c.Config.Validate, func(d document) (document, error) {
		at, err := iniKey(c.Config, d)
		switch {
		case err != nil:
			return nil, err
		case at >= 0:
			return d.splice(at, 1, withValue(d[at].text, c.Config.Value)), nil
		}
		return withKey(c.Config, d), nil
	})
}

// Delete removes the key, whatever its value is. Its section stays.
func (k INI) Delete(ctx context.Context, c *iniCall) error {
	f, err := k.check(c)
	if err != nil {
		return err
	}
	if _, exists, err := f.read(); err != nil || !exists {
		return err
	}
	return f.edit(ctx, c.Config.Validate, func(d document) (document, error) {
		at, err := iniKey(c.Config, d)
		if err != nil || at < 0 {
			return d, err
		}
		return d.splice(at, 1), nil
	})
}

// Watch reports changes of the file.
func (k INI) Watch(ctx context.Context, c *iniCall, tell func(detail string)) error {
	if _, err := k.check(c); err != nil {
		return err
	}
	return files.WatchFollowed(ctx, k.Machine, c.Config.Path, tell)
}
