package systemd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"

	"deployster/machine/internal/access"
)

// events are those of systemd's bus, for all that this process watches, by one connection.
type events struct {
	machine *access.Machine

	mu       sync.Mutex
	watching map[*watch]bool
	bus      *dbus.Conn
	lost     chan struct{} // closed when the connection has ended
}

// watch is one watched unit.
type watch struct {
	unit string // its object's path
	tell func(detail string)
}

func newEvents(m *access.Machine) *events { return &events{machine: m, watching: map[*watch]bool{}} }

const (
	managerName   = "org.freedesktop.systemd1"
	managerPath   = "/org/freedesktop/systemd1"
	managerIface  = managerName + ".Manager"
	changedSignal = "org.freedesktop.DBus.Properties.PropertiesChanged"
)

// unitPath returns the path of a unit's object.
func unitPath(unit string) string {
	var b strings.Builder
	b.WriteString(managerPath + "/unit/")
	for i, c := range []byte(unit) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', i > 0 && c >= '0' && c <= '9':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

// watch reports changes of a unit until ctx ends.
func (e *events) watch(ctx context.Context, unit string, tell func(detail string)) error {
	w := &watch{unitPath(unit), tell}
	lost, err := e.add(ctx, w)
	if err != nil {
		return err
	}
	defer e.remove(w)
	tell("")
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-lost:
		return errors.New("the connection to systemd's bus has ended")
	}
}

// add connects if that is not done yet.
func (e *events) add(ctx context.Context, w *watch) (lost <-chan struct{}, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.bus == nil {
		if err := e.connect(ctx); err != nil {
			return nil, err
		}
	}
	e.watching[w] = true
	return e.lost, nil
}

// remove disconnects after the last watch.
func (e *events) remove(w *watch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.watching, w)
	if len(e.watching) == 0 && e.bus != nil {
		_ = e.bus.Close() // nobody needs it any more
		e.bus = nil
	}
}

// connect subscribes to all signals of systemd; the caller holds mu.
func (e *events) connect(ctx context.Context) error {
	bus, err := dbus.Connect("unix:path=" + e.machine.Path("/run/dbus/system_bus_socket"))
	if err != nil {
		return fmt.Errorf("systemd cannot be watched, since there is no system bus: %w", err)
	}
	signals := make(chan *dbus.Signal, 1000)
	bus.Signal(signals)
	err = bus.AddMatchSignalContext(ctx, dbus.WithMatchSender(managerName))
	if err == nil {
		err = bus.Object(managerName, managerPath).CallWithContext(ctx, managerIface+".Subscribe", 0).Err
	}
	if err != nil {
		return errors.Join(fmt.Errorf("systemd cannot be watched: %w", err), bus.Close())
	}
	e.bus, e.lost = bus, make(chan struct{})
	go e.serve(signals, e.lost, bus)
	return nil
}

// serve passes signals on until the connection ends.
func (e *events) serve(signals <-chan *dbus.Signal, lost chan<- struct{}, bus *dbus.Conn) {
	for s := range signals {
		e.pass(s)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.bus == bus {
		e.bus = nil
	}
	close(lost)
}

// pass reports a signal to whom it concerns: that of a unit to its watches, one of changed files to all.
func (e *events) pass(s *dbus.Signal) {
	detail := ""
	all := s.Name == managerIface+".UnitFilesChanged"
	if !all && s.Name != changedSignal {
		return
	}
	if all {
		detail = "unit files have changed"
	} else if state := activeState(s); state != "" {
		detail = "it is " + state
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for w := range e.watching {
		if all || string(s.Path) == w.unit {
			w.tell(detail)
		}
	}
}

// activeState returns the state in a signal of changed properties, "" if it has none.
func activeState(s *dbus.Signal) string {
	if len(s.Body) < 2 {
		return ""
	}
	changed, _ := s.Body[1].(map[string]dbus.Variant)
	state, _ := changed["ActiveState"].Value().(string)
	return state
}
