package etc

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/protocol"
)

const (
	cronDirectory = "/etc/cron.d"
	cronMode      = 0o644
)

// CronConfig is what a user writes about a job of cron.
type CronConfig struct {
	Name     string            `json:"name" pattern:"^[A-Za-z0-9_-]+$" deployster:"identity"`
	User     string            `json:"user" default:"root" pattern:"^[^\\s#]+$"`
	Schedule string            `json:"schedule" minLength:"1"`
	Command  string            `json:"command" minLength:"1"`
	Env      map[string]string `json:"env,omitempty"`

	Prefix string `json:"prefix,omitempty"` // of discovery
}

var cronDocs = map[string]string{
	"name":     "The name of the file in /etc/cron.d. A name with a dot is refused, since cron does not read such files.",
	"user":     "The user that the command runs as.",
	"schedule": "When it runs: minute, hour, day of the month, month and day of the week, such as 30 3 * * 1-5, or @daily and the like.",
	"command":  "The command, which /bin/sh runs. A % is a %: it is escaped in the file, where cron would read a newline.",
	"env":      "Variables of its environment. PATH is /usr/bin:/bin unless it is given here.",
	"prefix":   "For discovery only: list the jobs whose name begins so.",
}

// CronState is what exists.
type CronState struct {
	User     string            `json:"user" doc:"the user that the command runs as"`
	Schedule string            `json:"schedule" doc:"when it runs"`
	Command  string            `json:"command" doc:"the command"`
	Env      map[string]string `json:"env,omitempty" doc:"variables of its environment"`

	had found
}

type cronCall = protocol.Call[CronConfig, CronState]

// Cron is the kind of jobs of cron.
type Cron struct{ Machine *access.Machine }

// NewCron returns the kind cron.
func NewCron(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Cron{m}, protocol.About{Label: "Job of cron", Kind: "linux/cron", Worker: true, Unknowns: true,
		AutoEdges: []protocol.AutoEdge{{Kind: "linux/user", By: "/user"}}, Docs: cronDocs})
}

func (k Cron) file(c *cronCall) ownFile {
	return ownFile{k.Machine, cronDirectory + "/" + c.Config.Name, cronMode}
}

// Read returns the job, or nil.
func (k Cron) Read(_ context.Context, c *cronCall) (*CronState, error) {
	if c.Intent == protocol.Present {
		if err := checkJob(c.Config, c.IsUnknown); err != nil {
			return nil, err
		}
	}
	h, err := k.file(c).read()
	if err != nil || !h.there || c.Intent == protocol.Absent && h.link != "" {
		return nil, err
	}
	state := &CronState{had: h}
	if job, ok := parsedJob(h.text); ok {
		state.User, state.Schedule, state.Command, state.Env = job.User, job.Schedule, job.Command, job.Env
		if strings.Join(strings.Fields(c.Config.Schedule), " ") == job.Schedule {
			state.Schedule = c.Config.Schedule
		}
	}
	return state, nil
}

// Plan compares the job, and the rest of the file.
func (k Cron) Plan(ctx context.Context, c *cronCall, have *CronState) (*protocol.Plan, error) {
	plan, err := c.DefaultPlan(have)
	if err != nil {
		return nil, err
	}
	var reasons []protocol.Reason
	if have != nil && len(c.Unknown) == 0 {
		text := renderedJob(c.Config)
		if plan == nil {
			reasons = k.file(c).differences(have.had, text, "")
		} else if _, one := parsedJob(have.had.text); !one {
			r := protocol.Reason{Message: k.file(c).path + " has something else than one job, and is replaced"}
			r.Have, _ = json.Marshal(have.had.text)
			reasons = append(reasons, r)
		}
	}
	if plan == nil && len(reasons) == 0 {
		return nil, nil
	}
	if plan == nil {
		plan = &protocol.Plan{Actions: []protocol.Action{{Name: "update"}}}
	}
	if r, missing := k.file(c).needsDirectory("cron"); missing {
		reasons = append(reasons, r)
	}
	if _, ok := k.Machine.UserID(ctx, c.Config.User); !ok && !c.IsUnknown("/user") {
		reasons = append(reasons, protocol.Reason{Path: "/user", Message: "there is no user " + c.Config.User + " on this machine yet"})
	}
	plan.Reasons = append(plan.Reasons, reasons...)
	return plan, nil
}

// Write writes the file. cron reads it within a minute.
func (k Cron) Write(ctx context.Context, c *cronCall) error {
	if err := checkJob(c.Config, c.IsUnknown); err != nil {
		return err
	}
	f := k.file(c)
	if !f.hasDirectory() {
		return fmt.Errorf("%s does not exist: install the package cron first", cronDirectory)
	}
	if _, ok := k.Machine.UserID(ctx, c.Config.User); !ok {
		return fmt.Errorf("there is no user %s on this machine, and cron would ignore the job: correct /user, or depend on the resource "+
			"that makes the user", c.Config.User)
	}
	return f.write(ctx, renderedJob(c.Config), nil)
}

// Delete removes the file.
func (k Cron) Delete(ctx context.Context, c *cronCall) error { return k.file(c).remove(ctx) }

// Watch reports changes of the file.
func (k Cron) Watch(ctx context.Context, c *cronCall, tell func(detail string)) error {
	return files.Watch(ctx, k.Machine, k.file(c).path, tell)
}

// Discover lists the files that have one job.
func (k Cron) Discover(_ context.Context, c *cronCall, tell func(CronConfig, string) error) error {
	names, err := entries(k.Machine, cronDirectory)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.ContainsAny(name, ".~") || !strings.HasPrefix(name, c.Config.Prefix) {
			continue
		}
		h, err := ownFile{k.Machine, cronDirectory + "/" + name, cronMode}.read()
		if err != nil {
			return err
		}
		job, ok := parsedJob(h.text)
		if !ok {
			c.Logf("%s/%s is not listed: it has something else than one job", cronDirectory, name)
			continue
		}
		if job.Name = name; checkJob(job, nobody) != nil {
			continue
		}
		if err := tell(job, name); err != nil {
			return err
		}
	}
	return nil
}

func nobody(string) bool { return false }
