package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"deployster/protocol"
)

// The kinds of things, each a resource type of its own.
const (
	Plain = "plain" // one action for each change
	Still = "still" // cannot be removed
	Steps = "steps" // is made, changed and removed in several actions
	Proud = "proud" // must be stopped before anything else is changed
	Seer  = "seer"  // says what it will be after its actions
	Asker = "asker" // is made of what its dependencies are
	Hand  = "hand"  // its actions run in another image
	Old   = "old"   // speaks protocol 1
	Ahead = "ahead" // can be queried before what it waits for is done
)

// Kinds lists them.
func Kinds() []string { return []string{Plain, Still, Steps, Proud, Seer, Asker, Hand, Old, Ahead} }

// HandImage is the image in which the actions of a Hand run.
const HandImage = "test/hands:1"

// Reference is the image of a kind.
func Reference(kind string) string { return "test/" + kind + ":1" }

// Thing is something in the world. Things are known by the name in their
// config, not by the address of their resource.
type Thing struct {
	There   bool            `json:"there"`
	Made    int             `json:"made"` // how often it was made: a new one has a new id
	Part    int             `json:"part"` // how far it is made: see whole
	Stopped bool            `json:"stopped,omitempty"`
	Config  json.RawMessage `json:"config,omitempty"`
	Seen    json.RawMessage `json:"seen,omitempty"` // of its dependencies
}

// whole is the Part of a thing that is finished: it was prepared, built and
// sealed.
const whole = 3

// Store is where things are kept.
type Store interface {
	Load(name string) (Thing, error) // one that never was is no error
	Save(name string, t Thing) error
}

// Input is what the world reads of its stdin.
type Input struct {
	Name string `json:"name"`
	Type string `json:"type"`
	protocol.StateInput
	Action string `json:"action"`
}

// Kind is the kind of the thing that an input is about.
func (in Input) Kind() string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(in.Type, "test/"), ":")
	return kind
}

// Thing is the name of the thing that an input is about.
func (in Input) Thing() string {
	var config struct{ Name string }
	_ = json.Unmarshal(in.Config, &config) // without a name it is the thing ""
	return config.Name
}

// Program is the image of all kinds. It is told to fail by its arguments:
// --exit=N ends it with that code, --idle keeps it from doing anything.
func Program(store Store, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var in Input
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 90
	}
	step, exit, idle := "", 0, false
	for _, arg := range args {
		if code, ok := strings.CutPrefix(arg, "--exit="); ok {
			exit, _ = strconv.Atoi(code)
			continue
		}
		if arg == "--idle" {
			idle = true
			continue
		}
		step = arg
	}
	switch {
	case step == "":
		_, _ = fmt.Fprintln(stdout, describe(in.Kind()))
		return 0
	case exit != 0:
		_, _ = fmt.Fprintln(stderr, "no luck")
	}
	t, err := store.Load(in.Thing())
	switch {
	case err != nil:
	case step == "state":
		_, err = fmt.Fprintln(stdout, Encode(Look(in, t), in.Kind()))
	case !idle:
		err = store.Save(in.Thing(), Act(in, step, t))
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 91
	}
	return exit
}

// describe is the answer to init.
func describe(kind string) string {
	const rest = `"plugs":{"things":{"container_path":"/things"}},"state_action":{"args":["state"]}}`
	switch kind {
	case Still:
		return `{"protocol":2,` + rest
	case Asker:
		return `{"protocol":2,"absent":true,"dependencies":true,` + rest
	case Ahead:
		return `{"protocol":2,"absent":true,"unknowns":true,` + rest
	case Old:
		return `{"label":"Old","required_plugs":{"things":"/things"},"state_action":{"args":["state"]}}`
	}
	return `{"protocol":2,"absent":true,` + rest
}

// Look says what an image says of a thing.
func Look(in Input, t Thing) protocol.Answer {
	kind := in.Kind()
	if in.Intent == protocol.Absent {
		return leaving(kind, in, t)
	}
	if !t.There {
		a := protocol.Answer{Status: protocol.Missing, Actions: actions(kind, "make")}
		if kind == Steps {
			a.Actions = actions(kind, "prepare", "build", "seal")
		}
		if kind == Seer {
			a.Forecast = shape(in.Config, nil, "")
		}
		return a
	}
	same := string(t.Config) == string(in.Config) && string(t.Seen) == string(seen(kind, in))
	var todo []string
	switch {
	case t.Part < 2:
		todo = []string{"build", "seal"}
	case t.Part < whole && same:
		todo = []string{"seal"}
	case t.Part < whole:
		todo = []string{"change", "seal"}
	case same && t.Stopped:
		todo = []string{"start"}
	case same:
		return protocol.Answer{Status: protocol.Valid, State: State(in.Thing(), t)}
	case kind == Steps:
		todo = []string{"open", "change", "seal"}
	default:
		todo = []string{"change"}
	}
	if kind == Proud && todo[len(todo)-1] == "seal" {
		todo = append(todo, "start") // another type has begun it; it is stopped first
	}
	a := protocol.Answer{Status: protocol.Stale, StaleState: State(in.Thing(), t), Actions: actions(kind, todo...)}
	if kind == Seer {
		a.Forecast = shape(in.Config, nil, "")
	}
	if kind == Proud && !t.Stopped {
		a.ShutdownFirst = &actions(kind, "stop")[0]
	}
	return a
}

// leaving is Look for what is to go.
func leaving(kind string, in Input, t Thing) protocol.Answer {
	if !t.There {
		return protocol.Answer{Status: protocol.Missing}
	}
	a := protocol.Answer{Status: protocol.Stale, StaleState: State(in.Thing(), t), Actions: actions(kind, "remove")}
	if kind == Steps {
		a.Actions = actions(kind, "empty", "remove")
		if t.Part < 2 {
			a.Actions = actions(kind, "remove")
		}
	}
	if kind == Proud && !t.Stopped {
		a.ShutdownFirst = &actions(kind, "stop")[0]
	}
	return a
}

// actions are actions of the kind.
func actions(kind string, names ...string) []protocol.Action {
	var list []protocol.Action
	for _, name := range names {
		a := protocol.Action{Name: name, Command: protocol.Command{Args: []string{name}}}
		if kind == Hand {
			a.Image, a.Entrypoint = HandImage, "/world"
		}
		list = append(list, a)
	}
	return list
}

// Act is what an action makes of a thing.
func Act(in Input, action string, t Thing) Thing {
	switch action {
	case "prepare":
		return Thing{There: true, Made: t.Made + 1, Part: 1}
	case "make":
		t = Thing{There: true, Made: t.Made + 1, Part: whole}
	case "build":
		t.Part = 2
	case "open":
		t.Part = 2
		return t
	case "seal":
		t.Part = whole
		return t
	case "empty":
		return Thing{There: true, Made: t.Made, Part: 1}
	case "remove":
		return Thing{Made: t.Made}
	case "stop":
		t.Stopped = true
		return t
	}
	t.Config, t.Seen, t.Stopped = in.Config, seen(in.Kind(), in), false
	return t
}

// State is what is to be seen of a thing: its config and its id.
func State(name string, t Thing) json.RawMessage {
	id := fmt.Sprintf("%s#%d", name, t.Made)
	if t.Part < 2 {
		text, _ := json.Marshal(map[string]any{"id": id, "part": t.Part})
		return text
	}
	return shape(t.Config, t.Seen, id)
}

// shape adds to a config what a state has beside it.
func shape(config, seen json.RawMessage, id string) json.RawMessage {
	all := map[string]any{}
	_ = json.Unmarshal(config, &all) // configs are objects
	if id != "" {
		all["id"] = id
	}
	if seen != nil {
		all["seen"] = seen
	}
	text, _ := json.Marshal(all) // strings, numbers and lists
	return text
}

// seen is what an Asker takes from its dependencies.
func seen(kind string, in Input) json.RawMessage {
	if kind != Asker {
		return nil
	}
	all := map[string]any{}
	for alias, d := range in.Dependencies {
		var state struct{ V any }
		_ = json.Unmarshal(d.State, &state) // not there yet: null
		all[alias] = state.V
	}
	text, _ := json.Marshal(all)
	return text
}

// Encode writes an answer as the kind's protocol version has it.
func Encode(a protocol.Answer, kind string) string {
	m := map[string]any{"status": a.Status}
	if a.Status == protocol.Missing && kind != Old && len(a.Actions) > 0 {
		m["status"] = protocol.Stale
	}
	put := func(key string, value json.RawMessage) {
		if value != nil {
			m[key] = value
		}
	}
	if kind == Old {
		put("properties", a.State)
	} else {
		put("state", a.State)
		put("staleState", a.StaleState)
		put("forecast", a.Forecast)
	}
	var list []map[string]any
	for _, action := range a.Actions {
		list = append(list, command(action))
	}
	if list != nil {
		m["actions"] = list
	}
	if a.ShutdownFirst != nil {
		m["shutdown_first"] = command(*a.ShutdownFirst)
	}
	text, _ := json.Marshal(m)
	return string(text)
}

// command writes an action as images do.
func command(a protocol.Action) map[string]any {
	m := map[string]any{"name": a.Name, "args": a.Args}
	if a.Image != "" {
		m["image"] = a.Image
	}
	if a.Entrypoint != "" {
		m["entrypoint"] = a.Entrypoint
	}
	return m
}
