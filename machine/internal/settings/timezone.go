package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

// TimezoneConfig is what a user writes about the time zone.
type TimezoneConfig struct {
	File string `json:"file" default:"/etc/localtime" pattern:"^/etc/localtime$" deployster:"identity"`
	Name string `json:"name" pattern:"^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$"`
}

var timezoneDocs = map[string]string{
	"file": "Where the zone is: a machine has one.",
	"name": "The zone, such as Europe/Zurich or Etc/UTC.",
}

// TimezoneState is what exists.
type TimezoneState struct {
	Name string `json:"name" doc:"the zone to which /etc/localtime leads; empty if it is a file instead of a link"`
	Text string `json:"text,omitempty" doc:"the zone in /etc/timezone, if that file exists"`
}

type timezoneCall = protocol.Call[TimezoneConfig, TimezoneState]

// Timezone is the kind of the time zone.
type Timezone struct{ Machine *access.Machine }

// NewTimezone returns the kind timezone.
func NewTimezone(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Timezone{m}, protocol.About{Label: "Time zone", Kind: "linux/timezone", Worker: true, Unknowns: true,
		Docs: timezoneDocs})
}

const (
	zones       = "/usr/share/zoneinfo"
	textZone    = "/etc/timezone"
	zoneMagic   = "TZif"
	zonePackage = "tzdata"
)

// zone returns whether the machine has a zone; there is whether it has zones at all.
func (k Timezone) zone(name string) (ok, there bool) {
	if _, err := os.Stat(k.Machine.Path(zones)); err != nil {
		return false, false
	}
	text, err := os.ReadFile(k.Machine.Path(zones + "/" + name))
	return err == nil && bytes.HasPrefix(text, []byte(zoneMagic)), true
}

// Read returns the zone; nil if there is none, or if the resource is to be gone.
func (k Timezone) Read(_ context.Context, c *timezoneCall) (*TimezoneState, error) {
	if c.Intent == protocol.Absent {
		return nil, nil
	}
	if ok, there := k.zone(c.Config.Name); there && !ok && !c.IsUnknown("/name") {
		return nil, protocol.Errorf(protocol.ConfigError, "/name", "%s has no zone %q", zones, c.Config.Name)
	}
	return k.read(c.Config.File)
}

func (k Timezone) read(path string) (*TimezoneState, error) {
	info, err := os.Lstat(k.Machine.Path(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return nil, protocol.Errorf(protocol.ConfigError, "/file", "%s is neither a link nor a file: remove it first", path)
	}
	s := &TimezoneState{}
	if target, err := os.Readlink(k.Machine.Path(path)); err == nil {
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		s.Name, _ = strings.CutPrefix(filepath.Clean(target), zones+"/")
	}
	text, err := os.ReadFile(k.Machine.Path(textZone))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	s.Text = strings.TrimSpace(string(text))
	return s, err
}

// Plan compares the file with the name too, where the machine has it.
func (k Timezone) Plan(_ context.Context, c *timezoneCall, have *TimezoneState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if err != nil || c.IsUnknown("/name") {
		return plan, err
	}
	forecast := TimezoneState{Name: c.Config.Name}
	if have != nil && have.Text != "" {
		forecast.Text = c.Config.Name
	}
	if have != nil && have.Text != forecast.Text {
		if plan == nil {
			plan = &protocol.Plan{Actions: []protocol.Action{{Name: "update"}}}
		}
		r := protocol.Reason{Path: "/name", Message: textZone + " has another zone"}
		r.Have, _ = json.Marshal(have.Text)
		r.Want, _ = json.Marshal(c.Config.Name)
		plan.Reasons = append(plan.Reasons, r)
	}
	if plan == nil {
		return nil, nil
	}
	if have != nil && have.Name == "" {
		plan.Reasons[0].Message = c.Config.File + " is not a link to a zone, and is replaced by one"
	}
	if _, there := k.zone(c.Config.Name); !there {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: "/name", Message: zones + " does not exist yet: the package " +
			zonePackage +
			" brings it"})
	}
	plan.Forecast = forecast
	return plan, nil
}

// Write switches the link, at once.
func (k Timezone) Write(ctx context.Context, c *timezoneCall) error {
	if ok, there := k.zone(c.Config.Name); !ok {
		if !there {
			return fmt.Errorf("%s does not exist: install the package %s first", zones, zonePackage)
		}
		return fmt.Errorf("%s has no zone %q", zones, c.Config.Name)
	}
	have, err := k.read(c.Config.File)
	if err != nil {
		return err
	}
	if have != nil && have.Text != "" && have.Text != c.Config.Name {
		if err := writeText(ctx, k.Machine, textZone, c.Config.Name+"\n"); err != nil {
			return err
		}
	}
	if have != nil && have.Name == c.Config.Name {
		return nil
	}
	unlock, err := replace.Lock(ctx, k.Machine, c.Config.File)
	if err != nil {
		return err
	}
	defer unlock()
	return replace.Link(k.Machine, c.Config.File, zones+"/"+c.Config.Name)
}

// Delete does nothing: a machine always has a zone.
func (k Timezone) Delete(context.Context, *timezoneCall) error { return nil }

// Watch reports changes of the link and the file.
func (k Timezone) Watch(ctx context.Context, c *timezoneCall, tell func(detail string)) error {
	watched := func(path string) func(context.Context, func(string)) error {
		return func(ctx context.Context, tell func(string)) error { return files.Watch(ctx, k.Machine, path, tell) }
	}
	return files.WatchAll(ctx, tell, watched(c.Config.File), watched(textZone))
}

// Discover lists the zone.
func (k Timezone) Discover(_ context.Context, _ *timezoneCall, tell func(TimezoneConfig, string) error) error {
	const file = "/etc/localtime"
	have, err := k.read(file)
	if err != nil || have == nil || have.Name == "" {
		return err
	}
	return tell(TimezoneConfig{File: file, Name: have.Name}, "timezone")
}
