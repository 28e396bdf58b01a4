package systemd

import (
	"context"
	"io"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/protocol"
)

// OwnUnit is a service that a kind of another package makes for its object.
type OwnUnit struct {
	Name string // with .service
	Text string

	control control
	events  *events
}

// Units makes units for the objects of a kind.
type Units struct {
	machine *access.Machine
	events  *events
}

// NewUnits returns what makes units.
func NewUnits(m *access.Machine) Units { return Units{m, newEvents(m)} }

// Unit returns a unit with a text.
func (u Units) Unit(name, text string) OwnUnit {
	return OwnUnit{Name: name, Text: text, control: control{u.machine}, events: u.events}
}

// Facts are what is known of a unit.
type Facts struct {
	There      bool // it has a file
	Running    bool
	Failed     bool
	Enabled    bool
	Difference *protocol.Reason // between its file and its text; nil = there is none
}

func (u OwnUnit) file() unitFile { return unitFile{unitDir + "/" + u.Name, u.Text} }

// Facts returns what is known of the unit. A machine without systemd is an error.
func (u OwnUnit) Facts(ctx context.Context) (f Facts, err error) {
	if err := u.control.check(); err != nil {
		return f, err
	}
	h, err := readFile(u.control.machine, u.file().path)
	if err != nil {
		return f, err
	}
	if f.There, f.Difference = h.there, u.file().difference(h, ""); !h.there {
		return f, nil
	}
	p, err := u.control.show(ctx, u.Name)
	f.Running, f.Enabled, f.Failed = p.running(), p.enabled(), p["ActiveState"] == "failed"
	return f, err
}

// Write checks the unit with systemd, writes its file, and has it started at boot.
func (u OwnUnit) Write(ctx context.Context, log io.Writer) error {
	if err := u.control.verify(ctx, u.Name, map[string]string{u.Name: u.Text}, log); err != nil {
		return err
	}
	if err := u.control.write(ctx, []unitFile{u.file()}); err != nil {
		return err
	}
	return u.control.systemctl(ctx, "enable", "--", u.Name)
}

// Up starts the unit, or restarts one that runs. An error has the end of its journal.
func (u OwnUnit) Up(ctx context.Context) error { return u.control.up(ctx, "restart", u.Name) }

// Explained adds to an error what the unit has written last.
func (u OwnUnit) Explained(ctx context.Context, err error) error {
	return u.control.explained(ctx, u.Name, err)
}

// Remove stops and disables the unit, and removes its file.
func (u OwnUnit) Remove(ctx context.Context) error {
	if err := u.control.stopAndDisable(ctx, u.Name); err != nil {
		return err
	}
	return u.control.remove(ctx, u.file().path)
}

// Watch reports changes of the unit and its file.
func (u OwnUnit) Watch(ctx context.Context, tell func(detail string)) error {
	return files.WatchAll(ctx, tell,
		func(ctx context.Context, tell func(string)) error { return u.events.watch(ctx, u.Name, tell) },
		func(ctx context.Context, tell func(string)) error {
			return files.Watch(ctx, u.control.machine, u.file().path, tell)
		})
}

// Words returns a command of a unit, whose words nothing is special in.
func Words(words []string) string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = quoted(strings.ReplaceAll(word, "$", "$$"))
	}
	return strings.Join(list, " ")
}
