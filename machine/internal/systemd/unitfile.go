package systemd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// unitFile is a file of a unit, or of a drop-in of one.
type unitFile struct {
	path string // of the machine
	text string // that it is to have
}

// name returns the path below unitDir.
func (f unitFile) name() string { return strings.TrimPrefix(f.path, unitDir+"/") }

// had is what is at the path of a file.
type had struct {
	there bool
	text  string
	link  string // where it leads, if it is a link; a masked unit's leads to /dev/null
}

// readFile returns what is at a path.
func readFile(m *access.Machine, path string) (had, error) {
	info, err := os.Lstat(m.Path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return had{}, nil
	}
	switch {
	case err != nil:
		return had{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		link, err := os.Readlink(m.Path(path))
		return had{there: true, link: link}, err
	case !info.Mode().IsRegular():
		return had{}, protocol.Errorf(protocol.ConfigError, "/name", "%s is not a regular file: remove it first", path)
	}
	text, err := os.ReadFile(m.Path(path))
	return had{there: true, text: string(text)}, err
}

// difference returns how a file differs from what it is to be; nil = it does not.
func (f unitFile) difference(h had, pointer string) *protocol.Reason {
	switch {
	case h.there && h.link == "" && h.text == f.text:
		return nil
	case !h.there:
		return &protocol.Reason{Message: f.path + " does not exist"}
	case h.link == "/dev/null":
		return &protocol.Reason{Message: f.path + " is a link to /dev/null, which masks the unit, and is replaced"}
	case h.link != "":
		return &protocol.Reason{Message: f.path + " is a link to " + h.link + ", and is replaced"}
	}
	r := &protocol.Reason{Path: pointer, Message: f.path + " has another content"}
	r.Have, _ = json.Marshal(h.text)
	r.Want, _ = json.Marshal(f.text)
	return r
}

// write writes files, and has systemd read them.
func (k control) write(ctx context.Context, files []unitFile) error {
	for _, f := range files {
		if err := os.MkdirAll(k.machine.Path(filepath.Dir(f.path)), 0o755); err != nil {
			return err
		}
		if err := k.writeOne(ctx, f); err != nil {
			return err
		}
	}
	return k.systemctl(ctx, "daemon-reload")
}

func (k control) writeOne(ctx context.Context, f unitFile) error {
	unlock, err := replace.Lock(ctx, k.machine, f.path)
	if err != nil {
		return err
	}
	defer unlock()
	mode, root := uint32(0o644), 0
	return replace.File(ctx, k.machine, f.path, replace.Change{Content: strings.NewReader(f.text), Mode: &mode, UID: &root, GID: &root})
}

// remove removes files, and has systemd forget them.
func (k control) remove(ctx context.Context, paths ...string) error {
	for _, path := range paths {
		if err := replace.Remove(k.machine, path); err != nil {
			return err
		}
	}
	return k.systemctl(ctx, "daemon-reload")
}

// stopAndDisable stops a unit and takes it from the boot, if systemd has it.
func (k control) stopAndDisable(ctx context.Context, unit string) error {
	p, err := k.show(ctx, unit)
	if err != nil || !p.there() {
		return err
	}
	if p["ActiveState"] != "inactive" && p["ActiveState"] != "failed" {
		if err := k.systemctl(ctx, "stop", "--", unit); err != nil {
			return err
		}
	}
	if p["ActiveState"] == "failed" {
		_ = k.systemctl(ctx, "reset-failed", "--", unit) // it may have been unloaded
	}
	if slices.Contains([]string{"enabled", "enabled-runtime", "linked", "indirect"}, p["UnitFileState"]) {
		return k.systemctl(ctx, "disable", "--", unit)
	}
	return nil
}

// checkCalendar returns an error for a calendar that systemd does not understand.
func (k control) checkCalendar(ctx context.Context, pointer, text string) error {
	var out bytes.Buffer
	err := k.machine.Run(ctx, access.Command{Args: []string{"systemd-analyze", "calendar", "--", text}, Stdout: io.Discard, Stderr: &out})
	if exit, ok := errors.AsType[*access.ExitError](err); ok && exit.Code > 0 {
		why, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
		return protocol.Errorf(protocol.ConfigError, pointer, "%q is not a calendar of systemd: %s", text, why)
	}
	return err
}

// rendered returns sections as the text of a unit.
func rendered(sections map[string]map[string]any, pointer string) (string, error) {
	var b strings.Builder
	for _, section := range sortedSections(sections) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "[%s]\n", section)
		for _, key := range sortedKeys(sections[section]) {
			values, err := texts(sections[section][key])
			if err != nil {
				return "", protocol.Errorf(protocol.ConfigError, pointer+"/"+section+"/"+key, "%s", err)
			}
			for _, v := range values {
				fmt.Fprintf(&b, "%s=%s\n", key, v)
			}
		}
	}
	return b.String(), nil
}

// texts returns a value as lines of a unit: a list is as many lines.
func texts(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		if strings.ContainsAny(v, "\n\r\x00") {
			return nil, fmt.Errorf("%q has more than one line: give a list", v)
		}
		return []string{v}, nil
	case bool:
		if v {
			return []string{"yes"}, nil
		}
		return []string{"no"}, nil
	case float64, json.Number, int:
		return []string{fmt.Sprint(v)}, nil
	case []any:
		var all []string
		for _, item := range v {
			if _, nested := item.([]any); nested {
				return nil, errors.New("a list in a list is not a value of a unit")
			}
			one, err := texts(item)
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
		return all, nil
	}
	return nil, fmt.Errorf("%v is neither a text, a number, a bool nor a list of these", v)
}

// sortedSections has Unit first and Install last, as people write them.
func sortedSections(sections map[string]map[string]any) []string {
	return slices.SortedFunc(keys(sections), func(a, b string) int {
		rank := func(s string) int {
			return map[string]int{"Unit": 0, "Install": 2}[s] + map[bool]int{true: 1}[s != "Unit" && s != "Install"]
		}
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
}

// unitsOf returns the keys of the administrator's units of one type, without their sections.
func unitsOf(m *access.Machine, suffix string) (list []map[string]string, err error) {
	entries, err := os.ReadDir(m.Path(unitDir))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != suffix {
			continue
		}
		text, err := os.ReadFile(m.Path(unitDir + "/" + e.Name()))
		if err != nil {
			return nil, err
		}
		keys := map[string]string{}
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
				keys[name] = strings.ReplaceAll(value, "%%", "%")
			}
		}
		list = append(list, keys)
	}
	return list, nil
}
