package sets

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"deployster/internal/runtime/runner"
	"deployster/protocol"
)

// site is what a manifest of one state has.
type site struct {
	declared map[string]bool
	keep     map[string]bool
	set      bool // it has the exclusive block
	late     bool // it declares the object with the name that another resource makes
}

// lateName is the name that the resource id makes.
const lateName = "z"

func (s site) manifest() (main, more string) {
	main = "type \"job\" { image = \"job\" }\n"
	if s.set {
		var keep []string
		for _, name := range slices.Sorted(maps.Keys(s.keep)) {
			keep = append(keep, fmt.Sprintf("%q", name))
		}
		main += fmt.Sprintf("exclusive \"jobs\" {\n  type = type.job\n  keep = [%s]\n}\n", strings.Join(keep, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(s.declared)) {
		more += fmt.Sprintf("resource \"r_%s\" {\n  type   = type.job\n  config = { name = %q }\n}\n", name, name)
	}
	if s.late {
		main += "resource \"id\" { type = \"id\" }\nresource \"late\" {\n  type   = type.job\n  config = { name = resource.id.state.name }\n}\n"
	}
	return main, more
}

// names returns the names of all declared objects.
func (s site) names() map[string]bool {
	all := maps.Clone(s.declared)
	if s.late {
		all[lateName] = true
	}
	return all
}

// run is an apply in progress.
type run struct {
	state   int
	site    site
	purges  bool // everything that allows a purge was given
	late    bool // the name of the late object was not known when it began
	actions int
	dies    int // the action in which it dies; 0 = it does not
	died    bool
	copied  func()
}

// world has the objects by name.
type world struct {
	mu      sync.Mutex
	there   map[string]bool
	fails   map[string]bool    // actions on it fail
	unread  map[string]bool    // its state cannot be read
	made    [2]bool            // the late name is known
	claimed [2]map[string]bool // what each state has declared in its last apply that ended well
	might   [2]map[string]bool // what each state may have declared since then, too
	run     *run
	wrong   []string
}

// job is the type of the objects.
func (w *world) job(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var in struct {
		Name   string
		Intent protocol.Intent
		Config struct{ Name string }
	}
	if json.NewDecoder(stdin).Decode(&in) != nil {
		return 1
	}
	name, print := in.Config.Name, func(text string) int {
		_, _ = fmt.Fprintln(stdout, text)
		return 0
	}
	switch step(s) {
	case "":
		return print(`{"protocol":2,"kind":"job","absent":true,"identity":["/name"],"config_schema":{"type":"object","required":["name"],` +
			`"properties":{"name":{"type":"string"}}},"state_action":{"args":["state"]},"discover_action":{"args":["discover"]}}`)
	case "discover":
		for _, name := range slices.Sorted(maps.Keys(w.there)) {
			print(fmt.Sprintf(`{"config":{"name":%q}}`, name))
		}
		return 0
	case "state":
		switch {
		case w.unread[name]:
			return 1
		case in.Intent == protocol.Absent && w.there[name]:
			return print(`{"status":"STALE","staleState":{},"actions":[{"name":"remove","args":["remove"],"destructive":true}]}`)
		case in.Intent == protocol.Absent:
			return print(`{"status":"MISSING"}`)
		case w.there[name]:
			return print(`{"status":"VALID","state":{}}`)
		}
		return print(`{"status":"STALE","actions":[{"name":"create","args":["create"]}]}`)
	case "create":
		return w.act(func() { w.there[name] = true }, name)
	default:
		if strings.HasPrefix(in.Name, "exclusive.") {
			w.judge(name)
		}
		return w.act(func() { delete(w.there, name) }, name)
	}
}

// act carries out an action. The machine of the command may die in it.
func (w *world) act(do func(), name string) int {
	w.run.actions++
	if w.fails[name] {
		return 1
	}
	if w.run.dies == w.run.actions {
		w.run.copied()
		w.run.died = true
	}
	do()
	return 0
}

// judge notes what is wrong with a purge.
func (w *world) judge(name string) {
	r, wrong := w.run, ""
	for declared := range r.site.declared {
		if !w.there[declared] {
			wrong = "before the resource " + declared + " was made"
		}
	}
	switch {
	case !r.purges:
		wrong = "by a plan that may not purge"
	case r.site.declared[name] || r.site.late && name == lateName:
		wrong = "though it is declared"
	case r.site.keep[name]:
		wrong = "though it is kept"
	case w.claimed[1-r.state][name]:
		wrong = "though the other state has declared it"
	case w.unread[name]:
		wrong = "though its state cannot be read"
	case r.late:
		wrong = "while the identity of a resource was not known"
	}
	if wrong != "" && !r.died { // what dies has no effect any more
		w.wrong = append(w.wrong, fmt.Sprintf("%s was purged %s", name, wrong))
	}
}

// id is the type of what makes the late name.
func (w *world) id(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = io.Copy(io.Discard, stdin)
	switch step(s) {
	case "":
		_, _ = fmt.Fprintln(stdout, `{"protocol":2,"state_action":{"args":["state"]}}`)
	case "state":
		if w.made[w.run.state] {
			_, _ = fmt.Fprintf(stdout, "{\"status\":\"VALID\",\"state\":{\"name\":%q}}\n", lateName)
		} else {
			_, _ = fmt.Fprintln(stdout, `{"status":"STALE","actions":[{"name":"make","args":["make"]}]}`)
		}
	default:
		state := w.run.state
		return w.act(func() { w.made[state] = true }, "id")
	}
	return 0
}

// step returns what a run of a type is for.
func step(s runner.Spec) string {
	args, err := s.Command(nil, nil)
	if err != nil || len(args) == 0 {
		return ""
	}
	return args[0]
}
