//go:build linux && amd64

package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deployster/state"
)

// effect is one line of the world's log.
type effect struct {
	Key    string          `json:"key"`
	Action string          `json:"action"`
	Name   string          `json:"name"`
	Config json.RawMessage `json:"config"`
}

// effects returns what the world's log says since the kill.
func (p *project) effects(d scenario) (list []effect) {
	p.t.Helper()
	log, err := os.ReadFile(filepath.Join(p.work, "world/log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		var e effect
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.t.Fatalf("%q: %v", line, err)
		}
		list = append(list, e)
	}
	return list[len(d.before):]
}

// checkKilled looks at what a kill has left. It returns what must never be, and
// the actions of which no record says how they ended.
func (p *project) checkKilled(d scenario, o outcome) (faults []string, inFlight []state.InFlight) {
	p.t.Helper()
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	file := filepath.Join(p.work, "deployster.state.json")
	s, recovery, err := state.Load(state.File(file))
	if err != nil {
		say("torn: %v", err)
		return faults, nil
	}
	if recovery != nil {
		inFlight = recovery.InFlight
	}
	// Read here as text, so that the tool does not judge itself. There may be no
	// journal.
	recorded, _ := os.ReadFile(file)
	journal, _ := os.ReadFile(file + ".journal")
	for _, e := range p.effects(d) {
		plan := strings.Split(e.Key+"//", "/")[1] // after the lineage
		if !bytes.Contains(recorded, []byte(`"plan": "`+plan)) && !bytes.Contains(journal, []byte(e.Key)) {
			say("lost: %s took effect and is not on record", e.Key)
		}
	}
	// What was told to be well is on record.
	for line := range strings.Lines(o.output) {
		var event struct{ Type, Resource, Status string }
		if json.Unmarshal([]byte(line), &event) != nil || event.Type != "resource_ended" || event.Status != "ok" {
			continue // also the line that the kill has cut off
		}
		entry, known := s.Resources[event.Resource]
		if value, wanted := d.after[event.Resource]; wanted != known || wanted && string(entry.State) != want(value) {
			say("lost: %s was said to be done, and recorded is %s", event.Resource, entry.State)
		}
	}
	return faults, inFlight
}

// want is the config of a thing with a value, and its state.
func want(value string) string { return fmt.Sprintf(`{"v":%q}`, value) }

// checkNext runs the next command, and looks at what there is then: all is as
// wanted, nothing was done twice, of each action that was in flight is told how
// it ended, and nothing is kept that nobody needs.
func (p *project) checkNext(d scenario, inFlight []state.InFlight, next []string) (faults []string) {
	p.t.Helper()
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	text, err := p.command(next...).CombinedOutput()
	if err != nil && !bytes.Contains(text, []byte("it was already applied")) {
		say("the next command failed: %v: %s", err, text)
		return faults
	}
	for _, f := range inFlight {
		name := f.Address + "/" + f.Action
		if p.keptOutcome(f.Key) {
			say("how %s ended is on record, and still kept elsewhere", name)
		}
		switch {
		case bytes.Contains(text, []byte(name+" ended well at ")) || bytes.Contains(text, []byte(name+" had not begun.")):
		case !bytes.Contains(text, []byte(f.Action+"\" of "+f.Address)):
			say("silent: nobody was told that %s was in flight: %s", name, text)
		default:
			say("unknown: how %s ended: %s", name, text)
		}
	}
	count, there := map[string]int{}, map[string]string{}
	for _, e := range p.effects(d) {
		what := e.Action + " " + e.Name + " " + string(e.Config)
		if count[what]++; count[what] > 1 {
			say("duplicate: %s, %d times", what, count[what])
		}
	}
	s, recovery, err := state.Load(state.File(filepath.Join(p.work, "deployster.state.json")))
	if err != nil || recovery != nil || len(s.Unsettled) > 0 || len(s.Resources) != len(d.after) {
		say("torn or open: %v, %v, %v, %d resources", err, recovery, s.Unsettled, len(s.Resources))
	}
	entries, err := os.ReadDir(filepath.Join(p.work, "world"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		if content, err := os.ReadFile(filepath.Join(p.work, "world", e.Name())); err == nil && e.Name() != "log" {
			there[e.Name()] = string(content)
		}
	}
	wanted := map[string]string{}
	for name, value := range d.after {
		if wanted[name] = want(value); string(s.Resources[name].State) != want(value) {
			say("lost: the state says of %s %s", name, s.Resources[name].State)
		}
	}
	if !maps.Equal(there, wanted) {
		say("wrong: there is %v, and wanted is %v", there, wanted)
	}
	return faults
}

// keptOutcome reports whether a containerd keeps how an action ended, as it does until
// somebody has taken it down.
func (p *project) keptOutcome(key string) bool {
	file := filepath.Join("outcomes", fmt.Sprintf("%x.json", sha256.Sum256([]byte(key))))
	return exists(filepath.Join(p.data, file)) || p.hosts != "" && exists(filepath.Join(p.hosts, file))
}

// nothingLeft waits until the containers of all who outcome are gone.
func (p *project) nothingLeft() {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		left := leftOfRuns(p.data)
		if p.hosts != "" {
			left = append(left, leftOfRuns(p.hosts)...)
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			p.t.Errorf("left: %v", left)
			return
		}
	}
}

// leftOfRuns lists what runs have left of a containerd's data directory.
func leftOfRuns(data string) (left []string) {
	for line := range strings.Lines(users(data)) {
		if !strings.Contains(line, "deployster-containerd") {
			left = append(left, line)
		}
	}
	clients, _ := filepath.Glob(filepath.Join(runtimeOf(data), "io/*/*"))
	return append(left, clients...)
}
