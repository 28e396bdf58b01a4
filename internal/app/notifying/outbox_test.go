package notifying

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deployster/apply"
	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/ui/events"
)

// world is a Sender, and what was sent and warned of.
type world struct {
	mu       sync.Mutex
	sent     []Message
	warnings []string
	tries    int
	answer   func(ctx context.Context, try int) error // nil = each send succeeds
	prepare  func(ctx context.Context) error          // nil = it succeeds
}

func (w *world) Prepare(ctx context.Context, _ config.Notify) error {
	if w.prepare == nil {
		return nil
	}
	return w.prepare(ctx)
}

func (w *world) Send(ctx context.Context, _ config.Notify, m Message) error {
	w.mu.Lock()
	w.tries++
	try := w.tries
	w.mu.Unlock()
	if w.answer != nil {
		if err := w.answer(ctx, try); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, m)
	return nil
}

func (w *world) outbox(t *testing.T, o Options, on ...string) *Outbox {
	t.Helper()
	o.Warn = func(d *diag.Diagnostic) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.warnings = append(w.warnings, d.Summary+": "+d.Detail)
	}
	if o.Hiding == nil {
		o.Hiding = func() func(string) string { return nil }
	}
	o.Where = "deployster apply in /shop"
	b := New(t.Context(), o)
	b.Use(w, []config.Notify{{Name: "ops", On: on}})
	return b
}

// texts returns the summaries that were sent.
func (w *world) texts() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.sent {
		list = append(list, m.Summary)
	}
	return list
}

func report(status apply.Status) events.Event {
	return events.OfReport(&apply.Report{Status: status, Resources: map[string]*apply.ResourceReport{
		"web": {Status: status, Reason: "exit code 1"}, "db": {Status: apply.OK}}})
}

// hang is an image that does not end before it is killed.
func hang(ctx context.Context, _ int) error {
	<-ctx.Done()
	time.Sleep(time.Second) // the time between SIGTERM and SIGKILL
	return ctx.Err()
}

func TestOutbox_SendsWhatItsBlockWants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		b := w.outbox(t, Options{}, "report.error")
		b.Offer(report(apply.OK))
		b.Offer(report(apply.Error))
		b.Offer(events.Notef("a note"))
		b.Close(nil)
		want := []string{"deployster apply in /shop: error: 1 error, 1 ok\nweb: error: exit code 1"}
		if got := w.texts(); !slices.Equal(got, want) {
			t.Errorf("it sent %q, and %q was wanted", got, want)
		}
		var event struct{ Type, Time string }
		if err := json.Unmarshal(w.sent[0].Event, &event); err != nil || event.Type != "report" || event.Time == "" {
			t.Errorf("the event is %s, %v", w.sent[0].Event, err)
		}
		if len(w.warnings) > 0 {
			t.Errorf("it warns: %q", w.warnings)
		}
	})
}

// Offering an event takes no time, and the end of a run takes ten seconds more at most, whatever an image does.
func TestOutbox_NeverDelaysARun(t *testing.T) {
	for name, w := range map[string]*world{
		"hangs":           {answer: hang},
		"fails":           {answer: func(context.Context, int) error { return errors.New("down") }},
		"never ready":     {prepare: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
		"cannot be ended": {answer: func(context.Context, int) error { time.Sleep(time.Minute); return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := w.outbox(t, Options{}, "report.ok")
				began := time.Now()
				for range 3 {
					b.Offer(report(apply.OK))
				}
				if took := time.Since(began); took > 0 {
					t.Errorf("offering took %s", took)
				}
				b.Close(nil)
				if took := time.Since(began); took > 10*time.Second || took < Patience {
					t.Errorf("the end took %s", took)
				}
				time.Sleep(2 * time.Minute) // until nothing runs any more
				if len(w.warnings) != 1 || !strings.Contains(w.warnings[0], "3 notifications of notify.ops could not be sent") {
					t.Errorf("it warns: %q", w.warnings)
				}
			})
		})
	}
}

// Without an event nobody waits for an image that gets ready for nothing, and an interrupt waits for none.
func TestOutbox_EndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		slow := &world{prepare: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		slow.outbox(t, Options{}, "report.ok").Close(nil)
		if took := time.Since(began); took > 0 || len(slow.warnings) > 0 {
			t.Errorf("without an event the end took %s, and warns %q", took, slow.warnings)
		}
		abort := make(chan struct{})
		close(abort)
		w := &world{answer: hang}
		b := w.outbox(t, Options{}, "report.ok")
		b.Offer(report(apply.OK))
		b.Close(abort)
		if took := time.Since(began); took > Farewell || len(w.warnings) != 1 {
			t.Errorf("an interrupted end took %s, and warns %q", took, w.warnings)
		}
	})
}

// One image that hangs keeps no other from being told.
func TestOutbox_SendsConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, other := &world{answer: hang}, &world{}
		b := w.outbox(t, Options{}, "report.ok")
		both := perBlock{"ops": w, "more": other}
		b.Use(both, []config.Notify{{Name: "ops", On: []string{"report.ok"}}, {Name: "more", On: []string{"report.ok"}}})
		b.Offer(report(apply.OK))
		b.Close(nil)
		if len(other.sent) != 1 || len(w.sent) != 0 {
			t.Errorf("sent are %d and %d", len(w.sent), len(other.sent))
		}
	})
}

// perBlock is a Sender for each block.
type perBlock map[string]*world

func (p perBlock) Prepare(ctx context.Context, n config.Notify) error {
	return p[n.Name].Prepare(ctx, n)
}

func (p perBlock) Send(ctx context.Context, n config.Notify, m Message) error {
	return p[n.Name].Send(ctx, n, m)
}

// A watch tries for an hour, in order, and warns once of what it gives up.
func TestOutbox_AWatchTriesForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := time.Now().Add(50 * time.Minute)
		w := &world{answer: func(context.Context, int) error {
			if time.Now().Before(down) {
				return errors.New("down")
			}
			return nil
		}}
		b := w.outbox(t, Options{For: OneHour}, "resource_watch.drifted", "report.ok")
		for i := range 3 {
			b.Offer(events.Event{Message: fmt.Sprintf("web%d: drifted", i), Body: events.ResourceWatch{Resource: "web", Status: "drifted"}})
		}
		time.Sleep(49 * time.Minute)
		if len(w.texts()) > 0 || w.tries > 30 {
			t.Errorf("after 49 minutes %q were sent, with %d tries", w.texts(), w.tries)
		}
		time.Sleep(7 * time.Minute)
		want := []string{"deployster apply in /shop: web0: drifted", "deployster apply in /shop: web1: drifted",
			"deployster apply in /shop: web2: drifted"}
		if got := w.texts(); !slices.Equal(got, want) || len(w.warnings) > 0 {
			t.Errorf("it sent %q, and warns %q", got, w.warnings)
		}
		down = time.Now().Add(10 * time.Hour)
		for range 3 {
			b.Offer(report(apply.OK))
		}
		time.Sleep(59 * time.Minute)
		if len(w.warnings) > 0 {
			t.Errorf("before the hour it warns %q", w.warnings)
		}
		time.Sleep(10 * time.Minute)
		if len(w.warnings) != 1 || !strings.Contains(w.warnings[0], "3 notifications of notify.ops could not be sent") ||
			!strings.Contains(w.warnings[0], "down") {
			t.Errorf("after the hour it warns %q", w.warnings)
		}
		b.Close(nil)
	})
}

// Secrets are masked in the event and in its summary, those too that became known after the event.
func TestOutbox_MasksSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		known := ""
		hiding := func() func(string) string {
			if known == "" {
				return nil
			}
			return func(text string) string { return strings.ReplaceAll(text, known, "(sensitive value)") }
		}
		w := &world{answer: func(_ context.Context, try int) error {
			if try == 1 {
				known = "canary-of-the-report"
				return errors.New("down")
			}
			return nil
		}}
		b := w.outbox(t, Options{Hiding: hiding}, "report.error")
		e := report(apply.Error)
		e.Body.(events.Report).Report.Resources["web"] = &apply.ResourceReport{Status: apply.Error, Reason: "it said canary-of-the-report"}
		b.Offer(e)
		b.Close(nil)
		if len(w.sent) != 1 {
			t.Fatalf("%d were sent", len(w.sent))
		}
		if all := string(w.sent[0].Event) + w.sent[0].Summary; strings.Contains(all, "canary") || strings.Count(all, "(sensitive value)") != 2 {
			t.Errorf("it sent %s", all)
		}
	})
}

// A block that changes has its later events sent in the new way, and what waits is still sent.
func TestOutbox_FollowsTheManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next := &world{answer: func(context.Context, int) error { time.Sleep(time.Minute); return nil }}, &world{}
		b := old.outbox(t, Options{For: OneHour}, "report.ok")
		b.Offer(report(apply.OK))
		b.Use(next, []config.Notify{{Name: "ops", On: []string{"report.ok", "report.error"}}})
		b.Offer(report(apply.Error))
		time.Sleep(2 * time.Minute)
		if len(old.sent) != 1 || len(next.sent) != 1 {
			t.Errorf("sent are %d and %d", len(old.sent), len(next.sent))
		}
		b.Close(nil)
	})
}

// Of too many events the oldest are dropped, and counted in the warning.
func TestOutbox_IsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{answer: func(context.Context, int) error { return errors.New("down") }}
		b := w.outbox(t, Options{For: OneHour}, "report.ok")
		for range most + 7 {
			b.Offer(report(apply.OK))
		}
		b.Close(nil)
		if len(w.warnings) != 1 || !strings.Contains(w.warnings[0], "1,007 notifications") {
			t.Errorf("it warns %q", w.warnings)
		}
	})
}
