package identity_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"deployster/internal/testkit/identity"
	"deployster/state"
)

// death ends a process at an action, before it is done or after: what is in the files at
// that moment is what the next process finds, and nothing is done any more.
type death struct {
	at   int  // the number of the action, from 1
	done bool // it is done

	actions int
	found   map[string][]byte // the files; nil = it lives
}

// lives counts an action, and reports whether it is to be done.
func (d *death) lives(dir string) bool {
	if d.found != nil {
		return false
	}
	if d.actions++; d.actions == d.at && !d.done {
		d.found = filesOf(dir)
	}
	return d.found == nil
}

// after is called when an action is done.
func (d *death) after(dir string) {
	if d.actions == d.at && d.found == nil {
		d.found = filesOf(dir)
	}
}

// files are what the dead process has left; nil = it did not die.
func (d *death) files() map[string][]byte {
	if d == nil {
		return nil
	}
	return d.found
}

// filesOf reads all files of a directory, but for the manifests.
func filesOf(dir string) map[string][]byte {
	found := map[string][]byte{}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !strings.HasSuffix(path, ".hcl") {
			if content, err := os.ReadFile(path); err == nil {
				found[strings.TrimPrefix(path, dir)] = content
			}
		}
		return nil // what goes while it is read is not there
	})
	return found
}

// write makes a directory have these files, and no others but for the manifests.
func write(dir string, files map[string][]byte) error {
	var err error
	for path := range filesOf(dir) {
		err = errors.Join(err, os.Remove(dir+path))
	}
	for path, content := range files {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(dir+path), 0o700), os.WriteFile(dir+path, content, 0o600))
	}
	return err
}

// wake goes on where a process has died.
func (t *tool) wake(files map[string][]byte) error {
	if err := write(t.dir, files); err != nil {
		return err
	}
	now, err := t.recorded()
	t.keys = map[string]identity.Key{}
	for addr, entry := range now.Resources {
		if t.keys[addr] = keyOf(entry); t.keys[addr] == "" {
			err = fmt.Errorf("%s is of a type whose things are not known by their config", addr)
		}
	}
	return err
}

// keyOf is the thing of an entry of a type that says its identity.
func keyOf(entry state.Entry) identity.Key {
	var c config
	if json.Unmarshal(entry.Config, &c) != nil || !strings.Contains(entry.Type, "lab/"+string(identity.ByIdentity)+":") {
		return ""
	}
	of := identity.Config{ID: c.ID}
	if c.Region != nil {
		of.Region = *c.Region
	}
	if entry.Settings.Host != nil {
		of.Place = entry.Settings.Host.Machine
	}
	for _, m := range entry.Mounts {
		of.Place = "/" + filepath.Base(m.Source)
	}
	return identity.KeyOf(identity.ByIdentity, "", of)
}

// Copy implements identity.Copier.
func (t *tool) Copy() error {
	to, err := os.MkdirTemp(memoryDir(), "copy-")
	if err != nil {
		return err
	}
	t.origin, t.dir, t.left = t.dir, to, identity.NewWorld()
	for k, thing := range t.world.Things {
		is := *thing
		t.left.Things[k] = &is
	}
	clear(t.world.Things)
	t.original = t.away()
	return errors.Join(os.Mkdir(filepath.Join(to, "w1"), 0o700), os.Mkdir(filepath.Join(to, "w2"), 0o700), write(to, filesOf(t.origin)))
}

// wrong says what an apply has done that it must not do: what is there was made again,
// or the original of a copy was touched.
func (t *tool) wrong(c identity.Command) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if twice := t.twice; c.Version > 0 && len(twice) > 0 && strings.HasPrefix(twice[0], string(identity.ByIdentity)+" ") {
		return errors.New("what was there was made again")
	}
	t.twice = nil
	if t.origin != "" && !maps.Equal(t.original, t.away()) {
		return errors.New("the original of a copy was touched")
	}
	return nil
}

// away is what is in the original of a copy.
func (t *tool) away() map[string]string {
	all := map[string]string{}
	for k, thing := range t.left.Things {
		all["thing "+string(k)] = fmt.Sprint(*thing)
	}
	for path, content := range filesOf(t.origin) {
		all["file "+path] = string(content)
	}
	return all
}

// fitPlaces gives all that is declared the place of one: a plug leads to one place. Where
// some of it is to be elsewhere than before, all is.
func (t *tool) fitPlaces(m identity.Manifest) bool {
	place := ""
	for _, a := range m.Addresses() {
		if at := m[a].Config.Place; at != "" && (place == "" || at != t.place) {
			place = at
		}
	}
	seen := map[identity.Key]bool{}
	for a, b := range m {
		b.Config.Place = place
		m[a] = b
		k := identity.KeyOf(b.Type, a, b.Config)
		if place != "" && seen[k] {
			return false
		}
		seen[k] = true
	}
	t.place = place
	return true
}
