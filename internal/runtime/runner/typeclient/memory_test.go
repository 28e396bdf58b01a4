package typeclient

import (
	"errors"
	"strings"
	"testing"

	"deployster/internal/runtime/runner/answers"
	"deployster/protocol"
)

func TestReadResolved_Outcomes(t *testing.T) {
	for name, c := range map[string]struct{ says, want, problem string }{
		"a value":            {says: `{"memory":{"b":1.10,"a":"x"}}` + "\n", want: `{"a":"x","b":1.10}`},
		"nothing any more":   {says: `{"memory":null}`, want: "null"},
		"false is a value":   {says: `{"memory":false}`, want: "false"},
		"nothing at all":     {says: "", problem: "printed nothing"},
		"no memory":          {says: `{}`, problem: `"memory" is missing`},
		"another key":        {says: `{"memory":1,"state":{}}`, problem: `"state" is not known`},
		"no object":          {says: `[1]`, problem: "object"},
		"half a document":    {says: `{"memory":{"a":`, problem: ""},
		"two documents":      {says: `{"memory":1}{"memory":2}`, problem: ""},
		"a log before it":    {says: "making it\n" + `{"memory":1}`, problem: ""},
		"twice the same key": {says: `{"memory":1,"memory":2}`, problem: ""},
		"too large":          {says: `{"memory":"` + strings.Repeat("x", answers.MaxMemory) + `"}`, problem: "at most"},
		"much too large":     {says: strings.Repeat("x", maxActionAnswer+1), problem: "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadSaid([]byte(c.says))
			switch {
			case c.want != "" && (err != nil || string(got) != c.want):
				t.Errorf("read as %s, %v, and must be %s", got, err, c.want)
			case c.want == "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
				t.Errorf("read as %s, %v, and must be refused: %s", got, err, c.problem)
			}
		})
	}
}

func TestForgotten_OmitsTheMemory(t *testing.T) {
	for says, want := range map[string]string{
		`{"memory":{"password":"quince"},"config":{}}`: `{"config":{},"memory":"(not shown)"}` + "\n",
		`{"status":"VALID","state":{"memory":1}}`:      `{"status":"VALID","state":{"memory":1}}`,
		`{"memory":"quin`: "",
	} {
		if got := string(Forgotten([]byte(says))); got != want {
			t.Errorf("%s is shown as %q, and must be %q", says, got, want)
		}
	}
}

// What an action says that is to be remembered is neither in records nor in messages, and
// not in what a person sees while it runs.
func TestAct_ShowsNoMemory(t *testing.T) {
	for name, word := range map[string]string{"well": `{"memory":"quince"}`, "badly": `{"memory":"quince"`} {
		t.Run(name, func(t *testing.T) {
			c, _ := client(says(word))
			var seen []string
			c.o.Log = func(l Line) { seen = append(seen, l.Text) }
			c.o.Record = func(i Invocation) { seen = append(seen, string(i.Stdin)+string(i.Result.Stdout)) }
			ty := protocol.Type{Protocol: 2, Reference: image, Digest: mustResolve(t, c), Memory: true}
			r, err := c.Act(t.Context(), target(), ty, protocol.Action{Name: "create"}, protocol.ActionInput{StateInput: protocol.StateInput{Memory: []byte(`"quince"`)}})
			if _, silent := Said(ty, r); silent != (err != nil) || (err != nil) != (name == "badly") {
				t.Errorf("silent %v, %v", silent, err)
			}
			if err != nil {
				seen = append(seen, diagnosed(t, err, "create").Detail)
			}
			if text := strings.Join(seen, "\n"); strings.Contains(text, "quince") || text == "" {
				t.Errorf("it is shown: %s", text)
			}
		})
	}
}

func TestState_MemoryHasToBeRequested(t *testing.T) {
	c, _ := client(says(`{"status":"VALID","state":{},"memory":1}`))
	ty := protocol.Type{Protocol: 2, Reference: image, Digest: mustResolve(t, c)}
	_, err := c.State(t.Context(), target(), ty, protocol.StateInput{})
	var pe *ProtocolError
	if !errors.As(err, &pe) || !strings.Contains(pe.Message, `lacks "memory": true`) {
		t.Errorf("%v", err)
	}
}
