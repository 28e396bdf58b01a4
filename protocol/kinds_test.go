package protocol_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"deployster/protocol"
)

type (
	lampConfig struct {
		Name string `json:"name" deployster:"identity"`
		On   bool   `json:"on"`
	}
	lampState struct {
		On bool `json:"on"`
	}
	lamp struct{ burns bool }
)

func (l lamp) Read(context.Context, *protocol.Call[lampConfig, lampState]) (*lampState, error) {
	return &lampState{l.burns}, nil
}

func (l lamp) Write(context.Context, *protocol.Call[lampConfig, lampState]) error  { return nil }
func (l lamp) Delete(context.Context, *protocol.Call[lampConfig, lampState]) error { return nil }

func (l lamp) PlanAbsence(context.Context, *protocol.Call[lampConfig, lampState], *lampState) (*protocol.Plan, error) {
	return &protocol.Plan{Actions: []protocol.Action{{Name: "smash", Destructive: true}}}, nil
}

func (l lamp) Watch(ctx context.Context, _ *protocol.Call[lampConfig, lampState], tell func(string)) error {
	tell("")
	<-ctx.Done()
	return ctx.Err()
}

// lamps are two kinds of one program.
func lamps() map[string]protocol.Kind {
	return map[string]protocol.Kind{"dark": protocol.NewKind(lamp{false}, protocol.About{Label: "Dark", Worker: true}),
		"bright": protocol.NewKind(lamp{true}, protocol.About{Label: "Bright", Worker: true})}
}

func answerKind(t *testing.T, stdin io.Reader, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, log bytes.Buffer
	kinds := lamps()
	kinds["needy"] = protocol.Needing(lamps(), []string{"whole-machine"})["dark"]
	code = protocol.AnswerKind(t.Context(), kinds, protocol.Process{Args: args, Stdin: stdin, Stdout: &out, Stderr: &log})
	return out.String(), log.String(), code
}

func TestKinds_AreChosenByTheTypeName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ stdin, arg, out, log string }{
		{`{"type":"acme/lamp:1#bright"}`, "", `"label":"Bright"`, ""},
		{`{"type":"acme/lamp:1#dark"}`, "", `"label":"Dark"`, ""},
		{`{"type":"acme/lamp#bright","config":{"name":"a","on":true}}`, "state", `{"status":"VALID","state":{"on":true}}`, ""},
		{`{"type":"acme/lamp#dark","config":{"name":"a","on":true}}`, "state", `"reasons":[{"path":"/on","have":false,"want":true}]`, ""},
		{`{"type":"acme/lamp#dark","config":{"name":"a","on":true},"intent":"absent"}`, "state", `{"name":"smash","destructive":true,"args":["smash"]}`, ""},
		{`{"type":"acme/lamp#red"}`, "", "", `acme/lamp has no kind "red": it has bright, dark, needy`},
		{`{"type":"acme/lamp"}`, "", "", "write acme/lamp#KIND, where KIND is one of bright, dark, needy"},
		{``, "", "", "this image has several kinds"},
		{`[]`, "", "", "stdin is not what deployster sends"},
		{`{"type":"acme/lamp#needy"}`, "", `"needs":["whole-machine"]`, ""},
	} {
		var args []string
		if c.arg != "" {
			args = []string{c.arg}
		}
		out, log, code := answerKind(t, strings.NewReader(c.stdin), args...)
		if !strings.Contains(out, c.out) || !strings.Contains(log, c.log) || (code == 0) != (c.log == "") {
			t.Errorf("%s: %q, %q, %d", c.stdin, out, log, code)
		}
	}
}

// A watch begins before its stdin ends, and ends with it.
func TestKinds_WatchEndsWithStdin(t *testing.T) {
	t.Parallel()
	stdin, feed := io.Pipe()
	out, printed := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- protocol.AnswerKind(t.Context(), lamps(), protocol.Process{Args: []string{"watch"}, Stdin: stdin, Stdout: printed, Stderr: io.Discard})
	}()
	_, _ = io.WriteString(feed, `{"type":"acme/lamp#dark","config":{"name":"a","on":true}}`+"\n")
	if first := make([]byte, 10); true {
		if n, err := out.Read(first); err != nil || string(first[:n]) != "{}\n" {
			t.Fatalf("%q %v", first[:n], err)
		}
	}
	_ = feed.Close()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
