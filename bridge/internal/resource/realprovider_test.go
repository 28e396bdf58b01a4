package resource

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deployster/bridge/internal/testprovider"
	"deployster/protocol"
)

// timeBinary is the provider hashicorp/time, built once from its module.
var timeBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "providers")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "provider")
	cmd := exec.Command("go", "build", "-mod=mod", "-o", path, "github.com/hashicorp/terraform-provider-time")
	cmd.Dir = "../../testdata/providers"
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the provider cannot be built: %w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	os.Exit(testprovider.RunTests(m))
}

func timeProvider(t *testing.T) *Providers {
	t.Helper()
	path, err := timeBinary()
	if err != nil {
		t.Fatal(err)
	}
	p := &Providers{Path: path}
	t.Cleanup(p.Close)
	return p
}

// life is a thing of which somebody keeps what it says is to be remembered.
type life struct {
	*Providers
	t      *testing.T
	kind   string
	memory json.RawMessage
}

func (l *life) input(config string) protocol.StateInput {
	return protocol.StateInput{InitInput: protocol.InitInput{Name: "a", Type: "tf/time:0#" + l.kind}, Config: json.RawMessage(config), Memory: l.memory}
}

func (l *life) ask(in protocol.StateInput) protocol.StateAnswer {
	l.t.Helper()
	a, err := l.State(l.t.Context(), in, io.Discard)
	if err != nil {
		l.t.Fatal(err)
	}
	if a.Status == protocol.Valid && a.Memory != nil {
		l.memory = a.Memory
	}
	return a
}

// apply runs the actions of an answer, and wants the state to be right then.
func (l *life) apply(in protocol.StateInput, want string) protocol.StateAnswer {
	l.t.Helper()
	a := l.ask(in)
	var names []string
	if a.Memory != nil {
		in.Memory = a.Memory
	}
	for _, action := range a.Actions {
		names = append(names, action.Name)
		digest := append(action.Args, "")[1]
		said, err := l.Act(l.t.Context(), protocol.ActionInput{StateInput: in, Action: action.Name}, action.Name, digest, io.Discard)
		if err != nil {
			l.t.Fatalf("%s: %v", action.Name, err)
		}
		if l.memory = said; string(said) == "null" {
			l.memory = nil
		}
		in.Memory = l.memory
	}
	if got := strings.Join(names, ","); got != want {
		l.t.Fatalf("the actions are %s, and must be %s", got, want)
	}
	in.After = names
	return l.ask(in)
}

func TestLife_OfARealProvider(t *testing.T) {
	p := timeProvider(t)
	l := &life{Providers: p, t: t, kind: "time_offset"}
	first := l.ask(l.input(`{"offset_days":7}`))
	if first.Status != protocol.Stale || first.StaleState != nil || !strings.Contains(strings.Join(first.Unknown, " "), "/rfc3339") {
		t.Errorf("what is not there: %+v", first)
	}
	made := l.apply(l.input(`{"offset_days":7}`), "create")
	if made.Status != protocol.Valid || !strings.Contains(string(made.State), `"offset_days":7`) {
		t.Errorf("after create: %s %s", made.Status, made.State)
	}
	if again := l.ask(l.input(`{"offset_days":7}`)); again.Status != protocol.Valid || string(again.State) != string(made.State) {
		t.Errorf("asked again: %s %s", again.Status, again.State)
	}
	if l.ask(l.input(`{"offset_days":"7"}`)).Status != protocol.Valid {
		t.Error("a number in quotes is another number")
	}
	if changed := l.apply(l.input(`{"offset_days":9}`), "update"); changed.Status != protocol.Valid {
		t.Errorf("after update: %+v", changed)
	}
	if replaced := l.apply(l.input(`{"offset_days":9,"triggers":{"a":"b"}}`), "delete,create"); replaced.Status != protocol.Valid {
		t.Errorf("after its replacement: %+v", replaced)
	}
	gone := l.input(`{"offset_days":9}`)
	gone.Intent = protocol.Absent
	if end := l.apply(gone, "delete"); end.Status != protocol.Missing {
		t.Errorf("after delete: %+v", end)
	}
}

func TestLife_ImportIsAdoption(t *testing.T) {
	l := &life{Providers: timeProvider(t), t: t, kind: "time_static"}
	a := l.ask(l.input(`{"import":"2020-02-12T06:36:13Z","triggers":{}}`))
	if a.Status != protocol.Valid || !strings.Contains(string(a.State), `"year":2020`) {
		t.Errorf("%+v", a)
	}
}

func TestState_NothingIsMadeTwice(t *testing.T) {
	l := &life{Providers: timeProvider(t), t: t, kind: "time_static"}
	in := l.input(`{}`)
	in.Unsettled = []string{"create"}
	for _, intent := range []protocol.Intent{protocol.Present, protocol.Absent} {
		in.Intent = intent
		a, err := l.State(t.Context(), in, io.Discard)
		if te, ok := err.(*protocol.TypeError); !ok || te.Class != protocol.UnsettledError || len(a.Actions) > 0 {
			t.Errorf("%s: %+v, %v", intent, a, err)
		}
	}
}

func TestState_ANewerMemoryIsRefused(t *testing.T) {
	l := &life{Providers: timeProvider(t), t: t, kind: "time_static"}
	l.memory = json.RawMessage(`{"kind":"time_static","version":99,"state":{}}`)
	_, err := l.State(t.Context(), l.input(`{}`), io.Discard)
	if te, ok := err.(*protocol.TypeError); !ok || te.Class != protocol.ConfigError {
		t.Errorf("%v", err)
	}
}

func TestInit_NamesTheNearestKind(t *testing.T) {
	p := timeProvider(t)
	for kind, want := range map[string]string{"#time_ofset": "Did you mean time_offset?", "": "name one after a #"} {
		if _, err := p.Init(t.Context(), protocol.InitInput{Type: "tf/time:0" + kind}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
