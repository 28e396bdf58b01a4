package typeclient

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"deployster/internal/base/secretref"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/answers"
	"deployster/internal/runtime/runner/secretgrant"
	"deployster/protocol"
)

// plum is the only secret.
type plum struct{}

func (plum) Of(_ context.Context, _, name string, _ bool) (secretgrant.Value, bool, error) {
	return secretgrant.Value{Secret: answers.Secret{Value: "plum-canary", Version: "1"}, Compared: true}, name == "db", nil
}

const safeInit = `{"protocol":2,"refresh":true,"reuse":true,"reuse_actions":true,"memory":true,"state_action":{"args":["state"]},
"config_schema":{"type":"object","properties":{"size":{},"password":{"type":"string","maxLength":5,"writeOnly":true}}}}`

// recorded is a client whose specs and records are kept.
func recorded(t *testing.T, program func(s runner.Spec, in string, stdout io.Writer) int) (*Client, *[]runner.Spec, *[]Invocation) {
	t.Helper()
	var mu sync.Mutex
	var specs []runner.Spec
	var records []Invocation
	c, _ := client(func(_ context.Context, s runner.Spec, stdin io.Reader, stdout, _ io.Writer) int {
		mu.Lock()
		specs = append(specs, s)
		mu.Unlock()
		in, _ := io.ReadAll(stdin)
		if len(s.Args) == 0 {
			_, _ = io.WriteString(stdout, safeInit)
			return 0
		}
		return program(s, string(in), stdout)
	}, func(o *Options) {
		o.Secrets = plum{}
		o.Record = func(i Invocation) { mu.Lock(); records = append(records, i); mu.Unlock() }
	})
	return c, &specs, &records
}

// The value is in what the image gets, which is marked, and in nothing else: the record has what stands for it, and the
// environment of the specification lacks it.
func TestSecrets_OnlyTheImageGetsAValue(t *testing.T) {
	t.Parallel()
	c, specs, records := recorded(t, func(_ runner.Spec, in string, stdout io.Writer) int {
		if !strings.Contains(in, `"config":{"password":"x:plum-canary"}`) || !strings.Contains(in, `"refresh":true,"changed":["/password"]`) {
			t.Errorf("the image got %s", in)
		}
		_, _ = io.WriteString(stdout, `{"status":"VALID","state":{}}`)
		return 0
	})
	tg := target()
	ty := initialised(t, c)
	tg.Settings.Env = map[string]string{"A": "plain", "B": secretref.Text("db")}
	tg.Mounts = []runner.Mount{{Source: "plug:login", Target: "/login", Content: "login=" + secretref.Text("db")}}
	answer, err := c.State(t.Context(), tg, ty, protocol.StateInput{Config: json.RawMessage(`{"password":"x:` + secretref.Text("db") + `"}`),
		LastState: json.RawMessage(`{}`), Applied: &protocol.Fingerprints{"db": "version:0"}})
	if err != nil || !slices.Equal(answer.Rotated, []string{"secret.db"}) {
		t.Fatalf("%+v %v", answer, err)
	}
	s := (*specs)[len(*specs)-1]
	if !s.Confidential || !slices.Equal(s.Secrets, []string{"plum-canary"}) {
		t.Errorf("spec %+v", s)
	}
	if s.Reuse || s.ReuseActions || s.Worker != nil || len(s.Settings.Env) != 1 || s.SecretEnv["B"] != "plum-canary" || s.Mounts[0].Content != "login=plum-canary" {
		t.Errorf("spec %+v", s)
	}
	r := (*records)[len(*records)-1]
	if strings.Contains(string(r.Stdin), "plum") || !strings.Contains(string(r.Stdin), secretref.Text("db")) {
		t.Errorf("recorded %s", r.Stdin)
	}
}

// A memory or another part of an answer with the value is refused; a reason is masked.
func TestSecrets_AnswersWithAValueAreRefused(t *testing.T) {
	t.Parallel()
	said := ""
	c, _, _ := recorded(t, func(_ runner.Spec, _ string, stdout io.Writer) int { _, _ = io.WriteString(stdout, said); return 0 })
	ty := initialised(t, c)
	in := protocol.StateInput{Config: json.RawMessage(`{"password":"` + secretref.Text("db") + `"}`)}
	for answer, part := range map[string]string{
		`{"status":"VALID","state":{"a":["u:plum-canary@h"]}}`:                                      `"state"`,
		`{"status":"VALID","state":{"a":{"cGx1bS1jYW5hcnk=":1}}}`:                                   `"state"`,
		`{"status":"VALID","state":{},"memory":"plum-canary"}`:                                      `"memory"`,
		`{"status":"STALE","actions":[{"name":"a","args":["-p","plum-canary"]}]}`:                   `"actions"`,
		`{"status":"STALE","actions":[{"name":"a","args":["a"]}],"forecast":{"a":"plum-canary"}}`:   `"forecast"`,
		`{"status":"STALE","staleState":{"p":"plum-canary"},"actions":[{"name":"a","args":["a"]}]}`: `"staleState"`,
	} {
		said = answer
		if _, err := c.State(t.Context(), target(), ty, in); err == nil || !strings.Contains(err.Error(), part+" has the value of a secret") {
			t.Errorf("%s: %v", answer, err)
		}
	}
	said = `{"status":"STALE","actions":[{"name":"a","args":["a"]}],"reasons":[{"path":"/password","want":"plum-canary","message":"no plum-canary"}]}`
	answer, err := c.State(t.Context(), target(), ty, in)
	if err != nil || strings.Contains(string(answer.Reasons[0].Want)+answer.Reasons[0].Message, "plum") {
		t.Errorf("%+v %v", answer.Reasons, err)
	}
	said = `{"memory":{"p":"plum-canary"}}`
	r, err := c.ActNotify(t.Context(), target(), ty, protocol.Action{Name: "a", Command: protocol.Command{Args: []string{"a"}}}, protocol.ActionInput{StateInput: in},
		func(r runner.Result, _ error) error {
			if memory, silent := Said(ty, r); memory != nil || !silent {
				t.Errorf("the memory %s is recorded", memory)
			}
			return nil
		})
	if err == nil || strings.Contains(string(r.Stdout), "plum") {
		t.Errorf("%s, %v", r.Stdout, err)
	}
}

// The host keeps how a guarded action is undone: no value may be in what it gets, wherever it is named.
func TestProtect_RefusesSecrets(t *testing.T) {
	t.Parallel()
	named := secretref.Text("db")
	for place, put := range map[string]func(*Target, *protocol.ActionInput){
		"config": func(_ *Target, in *protocol.ActionInput) { in.Config = json.RawMessage(`{"password":"` + named + `"}`) },
		"the config of a dependency": func(_ *Target, in *protocol.ActionInput) {
			in.Dependencies = map[string]protocol.Dependency{"a": {Config: json.RawMessage(`{"password":"` + named + `"}`)}}
		},
		"env": func(tg *Target, _ *protocol.ActionInput) { tg.Settings.Env = map[string]string{"B": "x" + named} },
		"plug": func(tg *Target, _ *protocol.ActionInput) {
			tg.Mounts = []runner.Mount{{Target: "/login", Content: named}}
		},
		"none": func(*Target, *protocol.ActionInput) {},
	} {
		var saved guardian
		c, _, _ := recorded(t, nil)
		c.o.Guardian = &saved
		tg, in := target(), protocol.ActionInput{}
		tg.Settings.Host = &runner.Host{Name: "a", Address: "a"}
		in.Config = json.RawMessage(`{}`)
		put(&tg, &in)
		err := c.Protect(t.Context(), tg, protocol.Type{Guard: &protocol.Guard{Save: &protocol.Command{}}}, in, "k", 1)
		if place == "none" {
			if err != nil || len(saved.saved) != 1 {
				t.Errorf("without a secret: %v, %d", err, len(saved.saved))
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "It gets secret.db.value") || len(saved.saved) != 0 {
			t.Errorf("%s: %v, saved %+v", place, err, saved.saved)
		}
	}
}

// guardian keeps what it is to save.
type guardian struct {
	runner.Guardian
	saved []runner.Protection
}

func (g *guardian) Save(_ context.Context, _ runner.Host, p runner.Protection) error {
	g.saved = append(g.saved, p)
	return nil
}

// What an image prints as a secret is learned before it is recorded, and is neither recorded nor shown.
func TestSecrets_PrintedOnesAreNotRecorded(t *testing.T) {
	t.Parallel()
	var learned []string
	var records []Invocation
	var specs []runner.Spec
	c, _ := client(func(_ context.Context, s runner.Spec, _ io.Reader, stdout, _ io.Writer) int {
		specs = append(specs, s)
		_, _ = io.WriteString(stdout, `{"value":"pear-canary"}`)
		return 0
	}, func(o *Options) {
		o.Secret = func(list []string) { learned = append(learned, list...) }
		o.Record = func(i Invocation) { records = append(records, i) }
		o.Log = func(l Line) { t.Errorf("shown: %+v", l) }
	})
	tg := target()
	tg.Settings.Env = map[string]string{"KEY": "x"}
	_, err := c.Ask(t.Context(), tg, Ask{Step: StepSecret, Digest: mustResolve(t, c), Command: protocol.Command{Args: []string{"read"}}, Says: true, Secret: true})
	if err != nil || !slices.Equal(learned, []string{"pear-canary"}) {
		t.Errorf("learned %q, %v", learned, err)
	}
	if len(records) != 1 || len(records[0].Result.Stdout) != 0 || !specs[0].Confidential || specs[0].Settings.Env != nil || specs[0].SecretEnv["KEY"] != "x" {
		t.Errorf("records %+v, specs %+v", records, specs)
	}
}

// A secret may stand where the schema says writeOnly, and what stands for it is not checked in place of its value.
func TestCheckConfig_SecretsAreWriteOnly(t *testing.T) {
	t.Parallel()
	c, _, _ := recorded(t, nil)
	ty := initialised(t, c)
	if found := c.CheckConfig(ty, json.RawMessage(`{"password":"`+secretref.Text("db")+`"}`), nil); len(found) != 0 {
		t.Errorf("writeOnly: %+v", found)
	}
	found := c.CheckConfig(ty, json.RawMessage(`{"size":{"a":"`+secretref.Text("db")+`"}}`), nil)
	if len(found) != 1 || found[0].Pointer != "/size/a" || !strings.Contains(found[0].Message, "writeOnly") {
		t.Errorf("elsewhere: %+v", found)
	}
}

// What an image answers about an artifact is recorded, so an answer with the value is dropped before anybody reads it: on
// stdout, in its file, and in what is read as a stream. Its end, which a callback records, has none either.
func TestSecrets_ArtifactsAnswerWithoutAValue(t *testing.T) {
	t.Parallel()
	const said = `{"version":{"ref":"plum-canary"}}`
	c, _, _ := recorded(t, func(s runner.Spec, _ string, stdout io.Writer) int {
		if s.Answer == nil {
			_, _ = io.WriteString(stdout, said)
		}
		return 0
	})
	tg, ty := target(), initialised(t, c)
	tg.Settings.Env = map[string]string{"TOKEN": secretref.Text("db")}
	for _, step := range []string{"check", "put"} {
		ended := ""
		a := Ask{Step: step, Digest: ty.Digest, Command: protocol.Command{Args: []string{step}}, Says: true,
			Ended: func(r runner.Result, _ error) error { ended = string(r.Stdout); return nil }}
		if step == "put" {
			a.ID = "1"
		}
		r, err := c.Ask(t.Context(), tg, a)
		if err != nil || strings.Contains(string(r.Stdout)+ended, "canary") || !strings.Contains(string(r.Stdout), "must leave the value out") {
			t.Errorf("%s: %v, %s, its end: %s", step, err, r.Stdout, ended)
		}
	}
	g := secretgrant.Of(map[string]secretgrant.Value{"db": {Secret: answers.Secret{Value: "plum-canary"}}}, nil)
	r := runner.Result{Stdout: []byte("a log with plum-canary"), Answer: []byte(said)}
	if g.Forget(&r, false); r.Answer != nil || !strings.Contains(r.Fault, "value of a secret") || !strings.Contains(string(r.Stdout), "canary") {
		t.Errorf("the result is %+v", r)
	}
	read := 0
	answer := g.Answer(&runner.Answer{Read: func(io.Reader) error { read++; return nil }})
	if err := answer.Read(strings.NewReader(said)); err == nil || read != 0 {
		t.Errorf("read %d times, %v", read, err)
	}
	if err := answer.Read(strings.NewReader(`{"version":{"ref":"1"}}`)); err != nil || answer.Read(nil) != nil || read != 2 {
		t.Errorf("read %d times, %v", read, err)
	}
}

// The image of a secret may get others in its environment, such as a token. No variable is in the container's specification.
func TestSecrets_AreReadWithOthers(t *testing.T) {
	t.Parallel()
	c, specs, _ := recorded(t, func(_ runner.Spec, _ string, stdout io.Writer) int {
		_, _ = io.WriteString(stdout, `{"value":"fig-canary"}`)
		return 0
	})
	tg, ty := target(), initialised(t, c)
	tg.Settings.Env = map[string]string{"TOKEN": "t-" + secretref.Text("db"), "PLACE": "here"}
	_, err := c.Ask(t.Context(), tg, Ask{Step: StepSecret, Digest: ty.Digest, Command: protocol.Command{Args: []string{"read"}}, Says: true, Secret: true})
	s := (*specs)[len(*specs)-1]
	if err != nil || !s.Confidential || len(s.Settings.Env) > 0 || s.SecretEnv["TOKEN"] != "t-plum-canary" || s.SecretEnv["PLACE"] != "here" {
		t.Errorf("%v, %+v", err, s)
	}
}

// A Pod gets a value in its config and its environment, and none in a file.
func TestSecrets_OfPods(t *testing.T) {
	t.Parallel()
	c, specs, _ := recorded(t, func(_ runner.Spec, _ string, stdout io.Writer) int {
		_, _ = io.WriteString(stdout, `{"status":"VALID","state":{}}`)
		return 0
	})
	tg, ty := target(), initialised(t, c)
	tg.Settings.Host = &runner.Host{Name: "jobs", Kubernetes: &runner.Cluster{}}
	tg.Settings.Env = map[string]string{"B": secretref.Text("db")}
	in := protocol.StateInput{Config: json.RawMessage(`{"password":"` + secretref.Text("db") + `"}`)}
	_, err := c.State(t.Context(), tg, ty, in)
	if s := (*specs)[len(*specs)-1]; err != nil || !s.Confidential || s.SecretEnv["B"] != "plum-canary" || len(s.Settings.Env) > 0 {
		t.Errorf("%v, %+v", err, s)
	}
	before := len(*specs)
	tg.Mounts = []runner.Mount{{Source: "plug:login", Target: "/login", Content: secretref.Text("db")}}
	if _, err := c.State(t.Context(), tg, ty, in); err == nil || !strings.Contains(err.Error(), "No files with secrets in a cluster") || len(*specs) != before {
		t.Errorf("with a file: %v", err)
	}
}

// With a lease others could use the secret, so no record has it.
func TestSecrets_LeasesAreNotRecorded(t *testing.T) {
	t.Parallel()
	c, _, records := recorded(t, func(_ runner.Spec, in string, stdout io.Writer) int {
		if !strings.Contains(in, "canary-lease") {
			t.Errorf("the image got %s", in)
		}
		_, _ = io.WriteString(stdout, `{"lease":"canary-lease"}`)
		return 0
	})
	tg, ty := target(), initialised(t, c)
	_, err := c.Ask(t.Context(), tg, Ask{Step: StepSecret, Digest: ty.Digest, Command: protocol.Command{Args: []string{"read"}}, Says: true,
		Secret: true, Stdin: []byte(`{"lease":"canary-lease","request":"renew"}`)})
	r := (*records)[len(*records)-1]
	if err != nil || strings.Contains(string(r.Stdin)+string(r.Result.Stdout), "canary") {
		t.Errorf("%v, recorded: %s %s", err, r.Stdin, r.Result.Stdout)
	}
}
