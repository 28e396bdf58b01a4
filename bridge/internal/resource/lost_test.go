package resource

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deployster/protocol"
)

// memoryOf is what is remembered of a thing of the test provider.
func memoryOf(id string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"kind":"test_object","version":0,"state":{"id":%q,"label":"a"}}`, id))
}

// worldly is the test provider in a world, which does something about each request for a thing.
func worldly(t *testing.T, asked func(w http.ResponseWriter, id string)) (*Providers, protocol.StateInput) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked(w, strings.Trim(r.URL.Path, "/")) }))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "provider")
	cmd := exec.Command("go", "build", "-o", path, "../testprovider/terraform-provider-test")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the provider cannot be built: %v: %s", err, out)
	}
	p := &Providers{Path: path}
	t.Cleanup(p.Close)
	config := fmt.Sprintf(`{"label":"a","provider":{"world":%q}}`, server.URL)
	return p, protocol.StateInput{InitInput: protocol.InitInput{Name: "a", Type: "tf/test:1#test_object"}, Config: json.RawMessage(config),
		Intent: protocol.Present}
}

// What is remembered may be of one that is gone, in whose place another was begun: that
// is not begun once more, and is found by its id.
func TestState_NothingIsMadeTwiceAfterWhatIsGone(t *testing.T) {
	p, in := worldly(t, func(w http.ResponseWriter, id string) {
		if id != "new" {
			http.Error(w, "no", http.StatusNotFound)
			return
		}
		_, _ = fmt.Fprint(w, `{"id":"new","label":"a"}`)
	})
	in.Memory = memoryOf("old")
	a, err := p.State(t.Context(), in, io.Discard)
	if err != nil || len(a.Actions) != 1 || a.Actions[0].Name != "create" {
		t.Errorf("what is gone: %+v, %v", a, err)
	}
	in.Unsettled = []string{"create"}
	if a, err = p.State(t.Context(), in, io.Discard); err == nil || err.(*protocol.TypeError).Class != protocol.UnsettledError {
		t.Errorf("what may be there: %+v, %v", a, err)
	}
	config := string(in.Config)
	in.Config = json.RawMessage(strings.Replace(config, "{", `{"import":"none",`, 1))
	for _, in.Memory = range []json.RawMessage{in.Memory, nil} {
		if a, err = p.State(t.Context(), in, io.Discard); err == nil || err.(*protocol.TypeError).Class != protocol.UnsettledError {
			t.Errorf("nothing has the id, what was made may be there: %+v, %v", a, err)
		}
	}
	in.Memory, in.Config = memoryOf("old"), json.RawMessage(strings.Replace(config, "{", `{"import":"new",`, 1))
	if a, err = p.State(t.Context(), in, io.Discard); err != nil || !strings.Contains(string(a.Memory), `"id":"new"`) {
		t.Errorf("what was found: %+v, %v", a, err)
	}
}

// A question over which the provider dies is asked of another process, once.
func TestState_IsQueriedAgainWhenTheProviderDies(t *testing.T) {
	for deaths, want := range map[int]string{1: "", 2: "the provider ended during ReadResource"} {
		var p *Providers
		left := deaths
		p, in := worldly(t, func(w http.ResponseWriter, _ string) {
			if left--; left >= 0 {
				for _, one := range p.open {
					_ = syscall.Kill(one.process.Pid(), syscall.SIGKILL)
				}
				return
			}
			_, _ = fmt.Fprint(w, `{"id":"7","label":"a"}`)
		})
		in.Memory = memoryOf("7")
		a, err := p.State(t.Context(), in, io.Discard)
		if want == "" && (err != nil || a.Status != protocol.Valid && a.StaleState == nil) {
			t.Errorf("after one death: %+v, %v", a, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("after %d deaths: %v", deaths, err)
		}
		if te, fault := err.(*protocol.TypeError); want != "" && (!fault || te.Class != protocol.BugError) {
			t.Errorf("after %d deaths it is no fault of the provider: %v", deaths, err)
		}
	}
}

// What was made half stays so when it could not be removed: it is not taken for what was
// wanted.
func TestAct_WhatCouldNotBeRemovedStaysTainted(t *testing.T) {
	p, in := worldly(t, func(w http.ResponseWriter, _ string) { http.Error(w, "no", http.StatusInternalServerError) })
	for _, tainted := range []bool{true, false} {
		in.Memory = json.RawMessage(fmt.Sprintf(`{"kind":"test_object","version":0,"state":{"id":"7","label":"a"},"tainted":%t}`, tainted))
		said, err := p.Act(t.Context(), protocol.ActionInput{StateInput: in}, deleteAction, "", io.Discard)
		var kept Memory
		if err == nil || json.Unmarshal(said, &kept) != nil || kept.Tainted != tainted || !strings.Contains(string(kept.State), `"7"`) {
			t.Errorf("tainted before: %t: %s, %v", tainted, said, err)
		}
	}
}

// What was shown is what is done: an action whose digest is of something else does nothing.
func TestAct_DoesOnlyWhatWasShown(t *testing.T) {
	asked := 0
	p, in := worldly(t, func(w http.ResponseWriter, _ string) {
		asked++
		_, _ = fmt.Fprint(w, `{"id":"7","label":"a"}`)
	})
	shown := func(in protocol.StateInput) protocol.Action {
		a, err := p.State(t.Context(), in, io.Discard)
		if err != nil || len(a.Actions) == 0 {
			t.Fatalf("%+v, %v", a, err)
		}
		return a.Actions[len(a.Actions)-1]
	}
	other := in
	other.Config = json.RawMessage(strings.Replace(string(in.Config), `"label":"a"`, `"label":"b"`, 1))
	there, tainted := other, in
	there.Memory = memoryOf("7")
	tainted.Memory = json.RawMessage(`{"kind":"test_object","version":0,"state":{"id":"7","label":"a"},"tainted":true}`)
	for name, c := range map[string]struct {
		in    protocol.StateInput
		shown protocol.Action
		done  bool
	}{
		"made":                       {in, shown(in), true},
		"made, another was shown":    {in, shown(other), false},
		"changed":                    {there, shown(there), true},
		"changed, another was shown": {there, shown(other), false},
		"made anew":                  {tainted, shown(tainted), true},
		"made anew, another":         {tainted, shown(other), false},
	} {
		before := asked
		_, err := p.Act(t.Context(), protocol.ActionInput{StateInput: c.in}, shown(c.in).Name, c.shown.Args[1], io.Discard)
		read := 0
		if c.in.Memory != nil {
			read = 1 // by the question before
		}
		if (err == nil) != c.done || (asked > before+read) != c.done {
			t.Errorf("%s: asked %d times, %v", name, asked-before, err)
		}
	}
}

// What was made with a config of an older schema is removed all the same: nothing is made
// of that config.
func TestAbsent_WithTheConfigOfAnOlderProvider(t *testing.T) {
	p, in := worldly(t, func(w http.ResponseWriter, _ string) { _, _ = fmt.Fprint(w, `{"id":"7","label":"a"}`) })
	in.Memory, in.Intent = memoryOf("7"), protocol.Absent
	in.Config = json.RawMessage(strings.Replace(string(in.Config), "{", `{"dropped":1,`, 1))
	a, err := p.State(t.Context(), in, io.Discard)
	if err != nil || len(a.Actions) != 1 || a.Actions[0].Name != deleteAction {
		t.Fatalf("%+v, %v", a, err)
	}
	in.Memory = a.Memory
	if _, err = p.Act(t.Context(), protocol.ActionInput{StateInput: in}, deleteAction, "", io.Discard); err != nil &&
		strings.Contains(err.Error(), "does not know it") {
		t.Error(err)
	}
	in.Intent = protocol.Present
	if _, err = p.State(t.Context(), in, io.Discard); err == nil {
		t.Error("an attribute that is not known is made")
	}
}

// What was there and was destroyed is made anew, and not adopted once more by an id that
// leads to what is there no longer; what may have been made since is.
func TestState_WhatWasDestroyedIsNotAdopted(t *testing.T) {
	p, in := worldly(t, func(w http.ResponseWriter, id string) { _, _ = fmt.Fprintf(w, `{"id":%q,"label":"a"}`, id) })
	in.Config = json.RawMessage(strings.Replace(string(in.Config), "{", `{"import":"old",`, 1))
	recorded := json.RawMessage(`{"id":"old","label":"a"}`)
	for name, c := range map[string]struct {
		after, unsettled []string
		last             json.RawMessage
		made             bool
	}{
		"nothing is known of it":                   {},
		"destroyed by -replace":                    {after: []string{deleteAction}, made: true},
		"destroyed, and recorded":                  {last: recorded, made: true},
		"destroyed, and another may be there":      {last: recorded, unsettled: []string{createAction}},
		"destroyed just now, another may be there": {after: []string{deleteAction}, unsettled: []string{createAction}},
	} {
		in.After, in.Unsettled, in.LastState = c.after, c.unsettled, c.last
		a, err := p.State(t.Context(), in, io.Discard)
		if err != nil || (len(a.Actions) == 1 && a.StaleState == nil) != c.made || !c.made && a.Status != protocol.Valid {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

// An id with which nothing is found is most likely mistyped, and nothing is made in its
// place; what was recorded before and is gone is made anew.
func TestState_NothingHasTheIDToAdopt(t *testing.T) {
	p, in := worldly(t, func(w http.ResponseWriter, _ string) { http.Error(w, "no", http.StatusNotFound) })
	in.Config = json.RawMessage(strings.Replace(string(in.Config), "{", `{"import":"x-17",`, 1))
	a, err := p.State(t.Context(), in, io.Discard)
	if te, ok := err.(*protocol.TypeError); !ok || te.Class != protocol.ConfigError || te.Path != "/import" ||
		te.Message != `nothing has the id "x-17". Correct it; to create it, remove "import"` {
		t.Errorf("nothing is known of it: %+v, %v", a, err)
	}
	for name, change := range map[string]func(in *protocol.StateInput){
		"gone behind our back": func(in *protocol.StateInput) { in.Memory = memoryOf("x-17") },
		"replaced":             func(in *protocol.StateInput) { in.After = []string{deleteAction} },
		"destroyed half-way":   func(in *protocol.StateInput) { in.LastState = json.RawMessage(`{"id":"x-17"}`) },
		"removed":              func(in *protocol.StateInput) { in.Intent = protocol.Absent },
	} {
		in := in
		change(&in)
		a, err := p.State(t.Context(), in, io.Discard)
		if made := len(a.Actions) == 1 && a.Actions[0].Name == createAction; err != nil || made == (in.Intent == protocol.Absent) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}
