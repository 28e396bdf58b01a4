package text

import (
	"context"
	"errors"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// LineConfig is what a user writes about a line.
type LineConfig struct {
	Path  string `json:"path" pattern:"^/" deployster:"identity"`
	ID    string `json:"id" minLength:"1" deployster:"identity"`
	Line  string `json:"line" pattern:"^[^\\r\\n]*$"`
	Match string `json:"match,omitempty"`
	Place
	Validate []string `json:"validate,omitempty"`
}

var lineDocs = placeDocs(map[string]string{
	"line": "The line, without its end.",
	"match": "A regular expression, which must match the line itself. A line of the file that matches it is replaced. " +
		"If several match, and none of them is the line, that is an error.",
})

// LineState is what exists.
type LineState struct {
	Line string `json:"line" doc:"the line, or the one that is in its place"`
}

type lineCall = protocol.Call[LineConfig, LineState]

// Line is the kind of single lines.
type Line struct{ Machine *access.Machine }

// NewLine returns the kind line.
func NewLine(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Line{m}, protocol.About{Label: "Line", Kind: "linux/line", Worker: true, Unknowns: true, AutoEdges: edges(),
		Docs: lineDocs})
}

func (l Line) check(c *lineCall) (textFile, error) {
	if c.Config.Match != "" && !c.IsUnknown("/match") {
		re, err := pattern("/match", c.Config.Match)
		if err != nil {
			return textFile{}, err
		}
		if !c.IsUnknown("/line") && !re.MatchString(c.Config.Line) {
			return textFile{}, protocol.Errorf(protocol.ConfigError, "/match",
				"%q does not match the line itself: the line would be added again and again", c.Config.Match)
		}
	}
	f, err := openText(l.Machine, c.Config.Path)
	return f, errors.Join(err, c.Config.check(), replace.CheckValidate(c.Config.Validate))
}

// candidate returns the number of the line that is, or is in place of, the wanted one; -1 =
// there is none.
func candidate(c *lineCall, d document) (int, error) {
	want := c.Config.Line
	if at := d.find(func(text string) bool { return text == want }); len(at) > 0 && !c.IsUnknown("/line") {
		return at[0], nil
	}
	if c.Config.Match != "" {
		re, err := pattern("/match", c.Config.Match)
		if err != nil {
			return -1, err
		}
		switch at := d.find(re.MatchString); {
		case len(at) > 1:
			return -1, protocol.Errorf(protocol.ConfigError, "/match", "%d lines match %q: %s; let it match the one that is to be replaced",
				len(at), c.Config.Match, numbered(at))
		case len(at) == 1:
			return at[0], nil
		}
	}
	if c.LastState != nil { // the line as this resource last made it
		if at := d.find(func(text string) bool { return text == c.LastState.Line }); len(at) > 0 {
			return at[0], nil
		}
	}
	return -1, nil
}

// Read returns the line, or the one that is in its place, or nil.
func (l Line) Read(_ context.Context, c *lineCall) (*LineState, error) {
	f, err := l.check(c)
	if err != nil {
		return nil, err
	}
	d, exists, err := f.read()
	if err != nil || !exists {
		return nil, err
	}
	if c.Intent == protocol.Absent { // another line in its place is someone else's
		if len(d.find(func(text string) bool { return text == c.Config.Line })) == 0 {
			return nil, nil
		}
		return &LineState{Line: c.Config.Line}, nil
	}
	at, err := candidate(c, d)
	if err != nil {
		return nil, err
	}
	if at < 0 {
		_, err := c.Config.in(d) // reports a place that does not exist
		return nil, err
	}
	return &LineState{Line: d[at].text}, nil
}

// Plan adds that the file is missing.
func (l Line) Plan(_ context.Context, c *lineCall, have *LineState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if plan == nil || err != nil || have != nil {
		return plan, err
	}
	f, err := openText(l.Machine, c.Config.Path)
	if err != nil {
		return nil, err
	}
	if _, exists, err := f.read(); err == nil && !exists {
		plan.Reasons = append(plan.Reasons, notYet(f.path))
	}
	return plan, nil
}

// Write adds the line, or replaces the one that is in its place.
func (l Line) Write(ctx context.Context, c *lineCall) error {
	f, err := l.check(c)
	if err != nil {
		return err
	}
	return f.edit(ctx, c.Config.Validate, func(d document) (document, error) {
		at, err := candidate(c, d)
		if err != nil {
			return nil, err
		}
		if at >= 0 {
			return d.splice(at, 1, c.Config.Line), nil
		}
		at, err = c.Config.in(d)
		if err != nil {
			return nil, err
		}
		return d.splice(at, 0, c.Config.Line), nil
	})
}

// Delete removes the line wherever it is.
func (l Line) Delete(ctx context.Context, c *lineCall) error {
	f, err := l.check(c)
	if err != nil {
		return err
	}
	if _, exists, err := f.read(); err != nil || !exists {
		return err
	}
	return f.edit(ctx, c.Config.Validate, func(d document) (document, error) {
		at := d.find(func(text string) bool { return text == c.Config.Line })
		for i := len(at) - 1; i >= 0; i-- {
			d = d.splice(at[i], 1)
		}
		return d, nil
	})
}

// Watch reports changes of the file.
func (l Line) Watch(ctx context.Context, c *lineCall, tell func(detail string)) error {
	if _, err := l.check(c); err != nil {
		return err
	}
	return files.WatchFollowed(ctx, l.Machine, c.Config.Path, tell)
}
