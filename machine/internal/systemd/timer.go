package systemd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/files"
	"deployster/protocol"
)

// TimerConfig is what a user writes about a command that runs by the clock.
type TimerConfig struct {
	Name            string            `json:"name" pattern:"^[A-Za-z0-9:_-]+$" deployster:"identity"`
	Command         []string          `json:"command" minItems:"1"`
	Calendar        []string          `json:"calendar" minItems:"1"`
	Description     string            `json:"description,omitempty"`
	User            string            `json:"user,omitempty" minLength:"1"`
	Directory       string            `json:"directory,omitempty" pattern:"^/"`
	Environment     map[string]string `json:"environment,omitempty"`
	Persistent      bool              `json:"persistent,omitempty"`
	RandomizedDelay string            `json:"randomized_delay,omitempty" pattern:"^[0-9]+(s|m|min|h)?$"`
}

var timerDocs = map[string]string{
	"name":             "The name of the timer and of its service, without .timer.",
	"command":          "The command, as a list of words: nothing in them is special.",
	"calendar":         "When it runs, as systemd writes it: daily, Mon 03:00, *-*-01 04:00:00.",
	"description":      "What it is for, in one line.",
	"user":             "The user that it runs as. Left out, root.",
	"directory":        "The directory that it runs in. Left out, /.",
	"environment":      "Variables of its environment.",
	"persistent":       "Whether a run that was missed while the machine was off is run later.",
	"randomized_delay": "By how much each run is delayed at the most, such as 15m.",
}

// TimerState is what exists.
type TimerState struct {
	Name    string `json:"name" doc:"the name in the config"`
	Active  bool   `json:"active" doc:"whether the timer waits for its time"`
	Enabled bool   `json:"enabled" doc:"whether the timer starts at boot"`

	timer, service had
}

type timerCall = protocol.Call[TimerConfig, TimerState]

// Timer is the kind of commands that run by the clock.
type Timer struct {
	control
	events *events
}

// NewTimer returns the kind timer.
func NewTimer(m *access.Machine) protocol.Kind {
	return protocol.NewKind(Timer{control{m}, newEvents(m)}, protocol.About{Label: "Timer", Kind: "linux/timer", Worker: true,
		Unknowns:  true,
		AutoEdges: []protocol.AutoEdge{{Kind: "linux/user", By: "/user"}, {Kind: "linux/file", By: "/command"}}, Docs: timerDocs})
}

func (c TimerConfig) timerPath() string   { return unitDir + "/" + c.Name + ".timer" }
func (c TimerConfig) servicePath() string { return unitDir + "/" + c.Name + ".service" }

// files returns the two files: the timer brings its service.
func (c TimerConfig) files() (timer, service unitFile) {
	var t, s strings.Builder
	about := c.Description
	if about == "" {
		about = c.Name
	}
	about = strings.ReplaceAll(strings.Join(strings.Fields(about), " "), "%", "%%")
	fmt.Fprintf(&t, "[Unit]\nDescription=%s\n\n[Timer]\n", about)
	for _, calendar := range c.Calendar {
		fmt.Fprintf(&t, "OnCalendar=%s\n", calendar)
	}
	if c.Persistent {
		t.WriteString("Persistent=yes\n")
	}
	if c.RandomizedDelay != "" {
		fmt.Fprintf(&t, "RandomizedDelaySec=%s\n", c.RandomizedDelay)
	}
	t.WriteString("\n[Install]\nWantedBy=timers.target\n")
	words := make([]string, len(c.Command))
	for i, word := range c.Command {
		words[i] = quoted(strings.ReplaceAll(word, "$", "$$"))
	}
	fmt.Fprintf(&s, "[Unit]\nDescription=%s\n\n[Service]\nType=oneshot\nExecStart=%s\n", about, strings.Join(words, " "))
	if c.User != "" {
		fmt.Fprintf(&s, "User=%s\n", c.User)
	}
	if c.Directory != "" {
		fmt.Fprintf(&s, "WorkingDirectory=%s\n", strings.ReplaceAll(c.Directory, "%", "%%"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		fmt.Fprintf(&s, "Environment=%s\n", quoted(name+"="+c.Environment[name]))
	}
	return unitFile{c.timerPath(), t.String()}, unitFile{c.servicePath(), s.String()}
}

// quoted returns a word that systemd reads as it is.
func quoted(word string) string {
	r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`, "\t", `\t`, "\r", `\r`)
	return `"` + r.Replace(word) + `"`
}

// Read returns the timer, or nil if neither of its files exists.
func (k Timer) Read(ctx context.Context, c *timerCall) (*TimerState, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	for i, calendar := range c.Config.Calendar {
		if pointer := fmt.Sprintf("/calendar/%d", i); c.Intent == protocol.Present && !c.IsUnknown("/calendar") {
			if err := k.checkCalendar(ctx, pointer, calendar); err != nil {
				return nil, err
			}
		}
	}
	state := &TimerState{Name: c.Config.Name}
	var err error
	if state.timer, err = readFile(k.machine, c.Config.timerPath()); err != nil {
		return nil, err
	}
	if state.service, err = readFile(k.machine, c.Config.servicePath()); err != nil {
		return nil, err
	}
	if !state.timer.there && !state.service.there {
		return nil, nil
	}
	p, err := k.show(ctx, c.Config.Name+".timer")
	state.Active, state.Enabled = p.running(), p.enabled()
	return state, err
}

// Plan compares both files, and whether the timer waits.
func (k Timer) Plan(_ context.Context, c *timerCall, have *TimerState) (*protocol.Plan, error) {
	plan := &protocol.Plan{Forecast: map[string]any{"name": c.Config.Name, "active": true, "enabled": true},
		Actions: []protocol.Action{called("update", "Write the timer and its service, and start it")}}
	if have == nil {
		plan.Actions[0] = called("create", plan.Actions[0].Description)
		return plan, nil
	}
	timer, service := c.Config.files()
	for _, r := range []*protocol.Reason{timer.difference(have.timer, ""), service.difference(have.service, "")} {
		if r != nil && len(c.Unknown) == 0 {
			plan.Reasons = append(plan.Reasons, *r)
		}
	}
	for _, pointer := range c.Unknown {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Path: pointer, Message: "known only after other actions"})
	}
	if !have.Active {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Message: "the timer does not wait for its time"})
	}
	if !have.Enabled {
		plan.Reasons = append(plan.Reasons, protocol.Reason{Message: "the timer does not start at boot"})
	}
	if len(plan.Reasons) == 0 {
		return nil, nil
	}
	return plan, nil
}

// Write writes both files, and has the timer wait.
func (k Timer) Write(ctx context.Context, c *timerCall) error {
	timer, service := c.Config.files()
	if err := k.verify(ctx, timer.name(), map[string]string{timer.name(): timer.text, service.name(): service.text}, c.Log); err != nil {
		return err
	}
	if err := k.write(ctx, []unitFile{service, timer}); err != nil {
		return err
	}
	if err := k.systemctl(ctx, "enable", "--", timer.name()); err != nil {
		return err
	}
	return k.up(ctx, "restart", timer.name()) // a timer that waits already does so for its old time
}

// PlanAbsence reports what else a removal does.
func (k Timer) PlanAbsence(context.Context, *timerCall, *TimerState) (*protocol.Plan, error) {
	return &protocol.Plan{Actions: []protocol.Action{called("delete",
		"Stop and disable the timer, stop its service, and remove both files")}}, nil
}

// Delete removes the timer and its service.
func (k Timer) Delete(ctx context.Context, c *timerCall) error {
	for _, unit := range []string{c.Config.Name + ".timer", c.Config.Name + ".service"} {
		if err := k.stopAndDisable(ctx, unit); err != nil {
			return err
		}
	}
	return k.remove(ctx, c.Config.timerPath(), c.Config.servicePath())
}

// Watch reports changes of the timer, and of its files once systemd has read them.
func (k Timer) Watch(ctx context.Context, c *timerCall, tell func(detail string)) error {
	if err := k.check(); err != nil {
		return err
	}
	file := func(path string) func(context.Context, func(string)) error {
		return func(ctx context.Context, tell func(string)) error { return files.Watch(ctx, k.machine, path, tell) }
	}
	unit := func(ctx context.Context, tell func(string)) error {
		return k.events.watch(ctx, c.Config.Name+".timer", tell)
	}
	return files.WatchAll(ctx, tell, unit, file(c.Config.timerPath()), file(c.Config.servicePath()))
}
