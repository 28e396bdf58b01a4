package apply_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"deployster/apply"
	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// daemon is a thing that is reloaded when it is told that what it subscribes was
// acted on. It notes what it is told.
type daemon struct {
	*engine
	told []string
}

func newDaemon(t *testing.T) *daemon {
	s := &daemon{engine: newEngine(t.TempDir())}
	s.opts.Parallelism = 1
	s.fake.Add("test/service:1", s.program)
	return s
}

func (s *daemon) program(ctx context.Context, spec runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	data, _ := io.ReadAll(stdin)
	var in protocol.ActionInput
	if err := json.Unmarshal(data, &in); err != nil {
		return 90
	}
	switch {
	case len(spec.Args) == 0:
		_, _ = io.WriteString(stdout, `{"protocol":2,"absent":true,"refresh":true,"state_action":{"args":["state"]}}`)
		return 0
	case spec.Args[0] == "state" && in.Refresh:
		answer := &bytes.Buffer{}
		code := s.world.Program(ctx, spec, bytes.NewReader(data), answer, stderr)
		out := answer.String()
		if strings.Contains(out, `"VALID"`) {
			out = `{"status":"STALE","staleState":{"told":true},"actions":[{"name":"reload","args":["reload"]}]}`
		}
		_, _ = io.WriteString(stdout, out)
		return code
	case spec.Args[0] != "state":
		word := spec.Args[0]
		if in.Refresh {
			word += " told"
		}
		s.told = append(s.told, strings.Join(append([]string{word}, in.Changed...), " "))
	}
	return s.world.Program(ctx, spec, bytes.NewReader(data), stdout, stderr)
}

// site is a config file, and a service that subscribes it.
func site(text, port string) string {
	return thing("conf", "text", text) +
		strings.Replace(strings.Replace(thing("web", "port", port), "thing:1\"", "service:1\"\n  subscribe = [resource.conf]", 1), "{\n  type", "{\n  type", 1)
}

// A subscriber is told once of what was done, and not of what was there before it.
func TestSubscribe_NotifiesOnceAfterEachChange(t *testing.T) {
	t.Parallel()
	s := newDaemon(t)
	for _, c := range []struct{ name, source, want string }{
		{"both are made", site("1", "1"), "make"},
		{"nothing is new", site("1", "1"), ""},
		{"the file is changed", site("2", "1"), "reload told"},
		{"it was told", site("2", "1"), ""},
		{"its own config is changed", site("2", "2"), "change /port"},
		{"both are changed", site("3", "3"), "change told /port"},
		{"it was told by that", site("3", "3"), ""},
	} {
		s.told = nil
		if r := s.do(t, c.source); r.Status != "ok" {
			t.Fatalf("%s: %s", c.name, encode(r))
		}
		if got := strings.Join(s.told, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A subscriber that exists, and that no state has, is notified of what the same run does around it: it may run with
// what those were before.
func TestSubscribe_NotifiesWhatIsTakenOver(t *testing.T) {
	t.Parallel()
	s := newDaemon(t)
	s.do(t, site("1", "1"))
	for _, suffix := range []string{"", ".journal"} {
		if err := os.Remove(s.statePath() + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	s.told = nil
	if r := s.do(t, site("2", "1")); r.Status != apply.OK || len(s.told) != 1 || !strings.HasPrefix(s.told[0], "reload") {
		t.Errorf("%q %s", s.told, encode(r))
	}
	s.told = nil
	if r := s.do(t, site("2", "1")); r.Status != apply.OK || len(s.told) != 0 {
		t.Errorf("again: %q %s", s.told, encode(r))
	}
}

// What has changed is held to what was VALID: where nothing ever was, nothing has.
func TestSubscribe_NothingChangedBeforeItWasMade(t *testing.T) {
	t.Parallel()
	s := newDaemon(t)
	s.world.Fail("web", true)
	if r := s.do(t, site("1", "1")); r.Resources["web"].Status != apply.Error {
		t.Fatal(encode(r))
	}
	s.world.Fail("web", false)
	s.told = nil
	if r := s.do(t, site("1", "2")); r.Status != apply.OK || strings.Join(s.told, ", ") != "make" {
		t.Errorf("%q %s", s.told, encode(r))
	}
}

// The plan shows the reload before anything is done.
func TestSubscribe_IsPlanned(t *testing.T) {
	t.Parallel()
	s := newDaemon(t)
	s.do(t, site("1", "1"))
	p, err := s.plan(site("2", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if web := p.Resources["web"]; web.Change() != updated || len(web.Answer().Actions) != 1 || web.Answer().Actions[0].Name != "reload" || len(web.Notes) != 1 {
		t.Errorf("%s", encode(web))
	}
}

// What a subscriber is owed is not forgotten when it could not be told, whatever is
// planned and applied in between.
func TestSubscribe_IsOwed(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(*daemon){
		"the run ends":                       func(*daemon) {},
		"without asking anybody":             func(s *daemon) { s.only.NoRefresh = true },
		"another resource is applied":        func(s *daemon) { s.only.Targets = []string{"conf"}; s.do(t, site("2", "1")); s.only.Targets = nil },
		"what is there is only written down": func(s *daemon) { s.only.RefreshOnly = true; s.do(t, site("2", "1")); s.only.RefreshOnly = false },
	} {
		t.Run(name, func(t *testing.T) {
			s := newDaemon(t)
			s.do(t, site("1", "1"))
			s.world.Fail("web", true)
			if r := s.do(t, site("2", "1")); r.Status != "error" {
				t.Fatal(encode(r))
			}
			s.world.Fail("web", false)
			between(s)
			s.told = nil
			if r := s.do(t, site("2", "1")); r.Status != "ok" || !slices.Equal(s.told, []string{"reload told"}) {
				t.Errorf("%q: %s", s.told, encode(r))
			}
			s.told = nil
			if s.do(t, site("2", "1")); len(s.told) > 0 {
				t.Errorf("again: %q", s.told)
			}
		})
	}
}

// A reload that became due after the plan was made is not lost by applying it.
func TestSubscribe_AfterThePlan(t *testing.T) {
	t.Parallel()
	s := newDaemon(t)
	s.do(t, site("1", "1"))
	s.world.Fail("web", true)
	s.world.Set("conf", "")
	p, err := s.plan(site("1", "1") + thing("other"))
	if err != nil {
		t.Fatal(err)
	}
	s.only.Targets = []string{"conf"}
	s.do(t, site("1", "1"))
	s.only.Targets = nil
	s.world.Fail("web", false)
	_, _ = s.apply(t.Context(), p)
	s.do(t, site("1", "1"))
	if !slices.Contains(s.told, "reload told") {
		t.Errorf("it was told %q", s.told)
	}
}

// A subscription moves with what is subscribed.
func TestSubscribe_Moves(t *testing.T) {
	t.Parallel()
	s := newDaemon(t)
	s.do(t, site("1", "1"))
	s.world.Fail("web", true)
	s.do(t, site("2", "1"))
	s.world.Fail("web", false)
	s.told = nil
	s.world.Set("file", `{"text":2}`)
	moved := strings.ReplaceAll(strings.ReplaceAll(site("2", "1"), `"conf"`, `"file"`), "resource.conf", "resource.file")
	s.do(t, moved+"moved {\n  from = resource.conf\n  to = resource.file\n}\n")
	if !slices.Contains(s.told, "reload told") {
		t.Errorf("it was told %q", s.told)
	}
}

// Who cannot be told cannot subscribe.
func TestSubscribe_TypeDoesNotSupportRefresh(t *testing.T) {
	t.Parallel()
	s := newDaemon(t)
	_, err := s.plan(strings.ReplaceAll(site("1", "1"), "service:1", "thing:1"))
	if err == nil || !strings.Contains(err.Error(), `has no "refresh": true`) {
		t.Errorf("%v", err)
	}
}

// A subscription that is as new as the change that it is to be told of is told of it,
// wherever the run dies in which both came, and whoever goes on.
func TestSubscribe_NewOneSurvivesDeath(t *testing.T) {
	t.Parallel()
	for facts := 1; facts <= 5; facts++ {
		for _, resumed := range []bool{false, true} {
			t.Run(fmt.Sprintf("after %d facts, resumed %v", facts, resumed), func(t *testing.T) {
				s := newDaemon(t)
				s.do(t, strings.Replace(site("1", "1"), "  subscribe = [resource.conf]\n", "", 1))
				s.told = nil
				p, err := s.plan(site("2", "1"))
				if err != nil {
					t.Fatal(err)
				}
				s.dieAfter(t, facts, p)
				if resumed {
					if report, err := s.apply(t.Context(), p); err != nil || report.Status != "ok" {
						t.Errorf("%s, %v", encode(report), err)
					}
				}
				if r := s.do(t, site("2", "1")); r.Status != "ok" {
					t.Error(encode(r))
				}
				if !slices.Contains(s.told, "reload told") {
					t.Errorf("it was told %q", s.told)
				}
				s.told = nil
				if s.do(t, site("2", "1")); len(s.told) > 0 {
					t.Errorf("again: %q", s.told)
				}
			})
		}
	}
}

// What was begun to be made with an earlier config is told of a later one: it may be
// there, and nobody has seen it VALID.
func TestSubscribe_BegunToBeMade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, conf string
		before     []string // is applied first
		want       string
	}{
		{"the file is the same", "1", nil, ""},
		{"the file is changed", "2", nil, "reload told"},
		{"the file was changed", "2", []string{"conf"}, "reload told"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newDaemon(t)
			p, err := s.plan(site("1", "1"))
			if err != nil {
				t.Fatal(err)
			}
			s.dieAfter(t, 5, p) // conf is VALID; web: started, ended
			s.told = nil
			if s.only.Targets = c.before; c.before != nil {
				s.do(t, site(c.conf, "1"))
				s.only.Targets = nil
			}
			if r := s.do(t, site(c.conf, "1")); r.Status != "ok" {
				t.Fatal(encode(r))
			}
			if got := strings.Join(s.told, ", "); got != c.want {
				t.Errorf("it was told %q, want %q", got, c.want)
			}
		})
	}
}
