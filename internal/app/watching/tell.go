package watching

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"deployster/internal/app/watch"
	"deployster/internal/base/collector"
	"deployster/internal/base/diag"
	"deployster/internal/base/words"
	"deployster/internal/ui/events"
	"deployster/plan/drift"
)

// line prints a line with the time of day for people.
func (w *watcher) line(format string, args ...any) {
	w.printing.Lock()
	defer w.printing.Unlock()
	w.Print("%s %s\n", time.Now().Format(time.TimeOnly), diag.Visible(w.engine.Command.Work.Secrets.Hide(fmt.Sprintf(format, args...))))
}

// status reports a status of the whole watch.
func (w *watcher) status(s Status, text, holder string) {
	level := events.Info
	if s == ReloadFailed || s == Held {
		level = events.Warning
	}
	body := w.body(s)
	body.Holder = holder
	w.mu.Lock()
	w.holder = holder
	w.mu.Unlock()
	w.engine.Command.Work.Events(events.Event{Level: level, Message: text, Body: body})
	w.line("%s", text)
	switch s {
	case Started, Reloaded, ReloadFailed:
		w.systemd.Ready(text)
	case Stopping:
		w.systemd.Stopping()
	}
}

// body returns the event of a status.
func (w *watcher) body(s Status) events.Watch {
	c := w.counted()
	return events.Watch{Status: string(s), Resources: c.Resources, ByEvents: c.ByEvents, ByPoll: c.Resources - c.ByEvents,
		Drifted: c.Drifted, Failed: c.Failed}
}

// count takes over the counts of the states of resources.
func (w *watcher) count(c watch.Counts) {
	w.mu.Lock()
	w.counts = c
	w.mu.Unlock()
	w.metrics.Counted(c)
}

// alive reports to systemd and metrics that the watch works. Package watch calls it every ten seconds.
func (w *watcher) alive() {
	c := w.counted()
	w.metrics.Alive()
	w.systemd.Alive(fmt.Sprintf("%s, %d drifted, %d failed", words.Count(c.Resources, "resource"), c.Drifted, c.Failed))
}

// tell reports an event. It is called by one goroutine.
func (w *watcher) tell(t watch.Event) {
	w.metrics.Told(t, w.typeOf)
	switch t := t.(type) {
	case watch.Looked:
		if w.Verbose {
			w.line("%s  checked (%s): %s after %s", t.Address, t.Why, cmp.Or(string(t.Status), "ok"), t.Took.Round(time.Millisecond))
		}
	case watch.Settled:
		w.settled(t)
	case watch.Loaded:
		w.loaded(t)
	case watch.Finding:
		w.finding(t)
	case watch.Flapping:
		w.resource(t.Address, "flapping", events.ResourceWatch{Next: t.Next.Seconds()},
			fmt.Sprintf("drifted again after %d repairs: something else changes it, too%s", t.Times, delayed(t.Next)))
	case watch.Unapproved:
		w.mu.Lock()
		why := w.reasons[t.Address]
		w.mu.Unlock()
		if why == "" {
			why = "what it depends on is not approved"
		}
		w.resource(t.Address, "not_approved", events.ResourceWatch{Detail: why}, "not repaired: "+why)
	case watch.Missed:
		text := "was found by a poll, though a process watches it"
		if t.Polled {
			text += ". It is polled from now on"
		}
		w.resource(t.Address, "missed", events.ResourceWatch{}, text)
	case watch.Noisy:
		w.resource(t.Address, "noisy", events.ResourceWatch{}, "many events without a change: it is checked every 10s at most")
	case watch.Process:
		w.process(t)
	case watch.Slow:
		text := fmt.Sprintf("Repairing %s has taken %s, and repairs run one at a time: other drift (%s) waits for its end. An action "+
			"ends at the latest at timeouts.action.", words.List(t.Resources, 3), t.Since.Round(time.Second),
			words.Count(t.Waiting, "resource"))
		w.engine.Command.Work.Diagnostics(diag.Diagnostics{diag.Warningf("A repair takes long", "%s", text)})
		w.line("repairing %s takes long: %s", words.List(t.Resources, 3), words.Count(t.Waiting, "resource")+" to be repaired after it")
	case watch.Hanging:
		text := fmt.Sprintf("A check of %s started %s ago and did not end in time: the resource is not checked again before that. When "+
			"all checks hang, systemd ends the watch after its WatchdogSec, and restarts it; without systemd restart it yourself.",
			t.Address, t.Since.Round(time.Second))
		w.engine.Command.Work.Diagnostics(diag.Diagnostics{diag.Warningf("A check hangs", "%s", text)})
	case watch.Refused:
		w.engine.Command.Work.Diagnostics(diag.From("Cannot repair", t.Err))
		w.line("cannot repair %s: next try in %s", words.Count(t.Resources, "resource"), t.Next.Round(100*time.Millisecond))
	}
}

// bottom returns the line at the bottom of a terminal.
func (w *watcher) bottom() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, text := w.counts, ""
	if n := len(w.repairs); n > 0 {
		text = "; repairing " + words.List(w.repairs, 3)
	} else if c.Open > 0 {
		text = fmt.Sprintf("; %d to check or to repair", c.Open)
	}
	if w.holder != "" {
		text += "; held"
	}
	return w.engine.Command.Work.Secrets.Hide(fmt.Sprintf("watching %s: %d as recorded, %d drifted, %d failed; %d by events%s",
		words.Count(c.Resources, "resource"), c.Resources-c.Drifted-c.Failed, c.Drifted, c.Failed, c.ByEvents, text))
}

// settled sends an event that reports whether there is something to do.
func (w *watcher) settled(t watch.Settled) {
	s, text := Unconverged, "changes are needed"
	if t.Converged {
		s, text = Converged, "nothing to do"
		if w.loose {
			w.loose = false
			collector.Release()
		}
	}
	w.engine.Command.Work.Events(events.Event{Level: events.Info, Message: text, Body: w.body(s)})
}

// typeOf returns the type of a watched resource, as the manifest names it.
func (w *watcher) typeOf(addr string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current.types[addr]
}

// loaded reports which resources are watched from now on, and which are not.
func (w *watcher) loaded(t watch.Loaded) {
	w.mu.Lock()
	w.counts = t.Counts
	g := w.current
	w.mu.Unlock()
	w.loose = true
	status, word := Reloaded, "watching on: "
	if t.First {
		status, word = Started, "watching "
	}
	approve := w.Approve
	if len(w.kinds) == 0 {
		approve = "none (report only)"
	}
	text := fmt.Sprintf("%s%s of %s: %s; approved: %s", word, words.Count(t.Counts.Resources, "resource"), g.source.Place, g.how(), approve)
	if t.First && g.unreported > 0 {
		text += fmt.Sprintf("; %d in clusters by polls alone, though a type reports changes", g.unreported)
	}
	w.status(status, text, "")
	for _, addr := range g.unwatched() {
		w.resource(addr, "not_watched", events.ResourceWatch{Detail: g.left[addr]}, "not watched: "+g.left[addr])
	}
}

// how reports how often which resources are queried.
func (g *generation) how() string {
	every := map[time.Duration]int{}
	var order []time.Duration
	told := 0
	for _, r := range g.Resources {
		if r.Watched {
			told++
			continue
		}
		if every[r.Alone]++; every[r.Alone] == 1 {
			order = append(order, r.Alone)
		}
	}
	var parts []string
	for _, d := range order {
		text := fmt.Sprintf("%d every %s", every[d], shortTime(d))
		if d == 0 {
			text = fmt.Sprintf("%d at the start", every[d])
		}
		parts = append(parts, text)
	}
	if told > 0 {
		parts = append(parts, fmt.Sprintf("%d by events", told))
	}
	if len(g.left) > 0 {
		parts = append(parts, fmt.Sprintf("%d not", len(g.left)))
	}
	if len(parts) == 0 {
		return "nothing was applied yet"
	}
	return strings.Join(parts, ", ")
}

// shortTime returns a duration as people write it.
func shortTime(d time.Duration) string {
	text := d.String()
	for _, end := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, end) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// finding reports that a query found something else than the last one.
func (w *watcher) finding(f watch.Finding) {
	word := wordOf(f.Look)
	why := string(f.Why)
	if f.Detail != "" {
		why += ": " + f.Detail
	}
	detail := f.Look.Reason
	if f.Error != nil {
		detail = f.Error.Error()
	}
	body := events.ResourceWatch{Was: string(f.Was), Why: string(f.Why), Detail: detail, Next: f.Next.Seconds()}
	if f.Look == (watch.Look{Status: drift.None}) && (f.Why == watch.ByRepair || f.Why == watch.Dependency) {
		w.event(f.Address, string(f.Look.Status), body, word)
		return // the line of the repair reports it
	}
	text := fmt.Sprintf("%s (%s)", word, why)
	if f.Look.Status == drift.Failed || f.Look.Status == drift.Changed {
		text += ": " + detail
	}
	w.resource(f.Address, string(f.Look.Status), body, text+delayed(f.Next))
}

// delayed returns when a resource is repaired, and why not at once; "" = it is repaired at once.
func delayed(next time.Duration) string {
	if next < time.Second/2 {
		return ""
	}
	return fmt.Sprintf(". It is repaired in %s, not at once, because it was repaired a short time ago: the delay doubles with each "+
		"repair, to 10m at most, and ends when the resource did not drift for 10m", next.Round(100*time.Millisecond))
}

// wordOf returns the status that a query found, for people.
func wordOf(l watch.Look) string {
	switch {
	case l.Status != drift.None:
		return string(l.Status)
	case l.Differs:
		return "ok: " + l.Reason
	}
	return "ok"
}

// resource reports an event of one resource.
func (w *watcher) resource(addr, status string, body events.ResourceWatch, text string) {
	w.event(addr, status, body, text)
	w.line("%s  %s", addr, text)
}

func (w *watcher) event(addr, status string, body events.ResourceWatch, text string) {
	body.Resource, body.Status = addr, status
	level := events.Warning
	if status == string(drift.None) {
		level = events.Info
	}
	w.engine.Command.Work.Events(events.Event{Level: level, Message: addr + ": " + text, Body: body})
}

// known reports drift that is in the baseline, once for each resource.
func (w *watcher) known(addr string, found *drift.Resource) {
	w.mu.Lock()
	told := w.knows[addr]
	w.knows[addr] = true
	w.mu.Unlock()
	if !told {
		w.resource(addr, "known", events.ResourceWatch{Detail: found.Reason}, string(found.Status)+", as in the baseline: ignored")
	}
}

// process reports the start or the end of a process that watches a resource.
func (w *watcher) process(p watch.Process) {
	body := events.WatchProcess{Resource: p.Address, Status: "running"}
	level, text := events.Debug, p.Address+": a process watches it"
	if !p.Running {
		body.Status, body.Restart, level = "ended", p.Restart.Seconds(), events.Warning
		if text = p.Address + ": no process watches it now"; p.Err != nil {
			body.Reason = p.Err.Error()
			text += ": " + body.Reason
		}
		w.line("%s. It is restarted in %s", text, p.Restart.Round(100*time.Millisecond))
	}
	w.engine.Command.Work.Events(events.Event{Level: level, Message: text, Body: body})
}
