package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/protocol"
)

// slow is a world in which things are made when somebody lets it.
func slow(t *testing.T) (url string, asked <-chan struct{}, let chan struct{}) {
	began, open := make(chan struct{}, 8), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		began <- struct{}{}
		<-open
		_, _ = fmt.Fprint(w, `{"id":"7"}`)
	}))
	t.Cleanup(server.Close)
	return server.URL, began, open
}

// A provider is asked to stop when all that it changes was cancelled, and not before; what it
// has made then is remembered, and the next thing is done by another process.
func TestStop_WhenNothingIsWantedAnyMore(t *testing.T) {
	dir := t.TempDir()
	record := filepath.Join(dir, "record")
	t.Setenv("TEST_RECORD", record)
	path := filepath.Join(dir, "provider")
	cmd := exec.Command("go", "build", "-o", path, "../testprovider/terraform-provider-test")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the provider cannot be built: %v: %s", err, out)
	}
	url, asked, let := slow(t)
	p := &Providers{Path: path}
	t.Cleanup(p.Close)
	create := func(ctx context.Context, label string) <-chan json.RawMessage {
		out := make(chan json.RawMessage, 1)
		config := fmt.Sprintf(`{"label":%q,"provider":{"world":%q}}`, label, url)
		in := protocol.StateInput{InitInput: protocol.InitInput{Name: label, Type: "tf/test:1#test_object"}, Config: json.RawMessage(config)}
		go func() {
			shown, err := p.State(t.Context(), in, io.Discard)
			if err != nil {
				t.Errorf("%s: %v", label, err)
				out <- nil
				return
			}
			said, err := p.Act(ctx, protocol.ActionInput{StateInput: in, Action: "create"}, "create", shown.Actions[0].Args[1], io.Discard)
			if err != nil {
				t.Errorf("%s: %v", label, err)
			}
			out <- said
		}()
		return out
	}
	stops := func() int {
		text, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "StopProvider")
	}
	one, cancelOne := context.WithCancel(t.Context())
	two, cancelTwo := context.WithCancel(t.Context())
	first, second := create(one, "one"), create(two, "two")
	<-asked
	<-asked
	cancelOne()
	time.Sleep(100 * time.Millisecond) // for what must not come
	if n := stops(); n != 0 {
		t.Errorf("asked to stop %d times while something is wanted", n)
	}
	cancelTwo()
	for end := time.Now().Add(time.Minute); stops() == 0 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if n := stops(); n != 1 {
		t.Errorf("asked to stop %d times", n)
	}
	old := p.open[fmt.Sprintf(`{"world":%q}`, url)].process
	close(let)
	for name, said := range map[string]<-chan json.RawMessage{"one": first, "two": second} {
		if m := <-said; !strings.Contains(string(m), `"id":"7"`) {
			t.Errorf("%s is remembered as %s", name, m)
		}
	}
	if m := <-create(t.Context(), "three"); !strings.Contains(string(m), `"id":"7"`) {
		t.Errorf("afterwards: %s", m)
	}
	if old.Alive() {
		t.Error("what was asked to stop goes on")
	}
}

// Who is asked to stop is given nothing more to do, also by one who had got the process before.
func TestCarryOut_NothingAfterAStop(t *testing.T) {
	t.Parallel()
	stopping := &thing{provider: &provider{changes: changes{ended: make(chan struct{})}}}
	if err := stopping.execute(t.Context(), nil, nil); !errors.Is(err, errStopping) {
		t.Errorf("it is carried out, and gives %v", err)
	}
}

// When what was wanted has ended, the provider is asked to stop for the rest, once.
func TestChanges_UnwantedOnceTheWantedHaveEnded(t *testing.T) {
	t.Parallel()
	c := &changes{open: 2, cancelled: 1}
	if c.unwanted() {
		t.Error("one of two is wanted, and it is to stop")
	}
	c.open--
	if !c.unwanted() || c.stopped() == nil {
		t.Error("nothing is wanted any more, and it goes on")
	}
	if c.unwanted() {
		t.Error("it is to stop twice")
	}
}
