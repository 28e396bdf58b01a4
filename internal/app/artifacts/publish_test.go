package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/artifact/artifacttest"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/plan/artifacts"
	"deployster/protocol"
	"deployster/state"
	"deployster/state/actions"
)

const address = "publish.release"

// scene is a Client over a manifest with one publish, and the world that it publishes to.
type scene struct {
	*Client
	world *artifacttest.World
	info  artifact.Info
	log   []string // what was recorded, and put, in order
}

// wished is the config of the publish, which puts version 2.
func wished(password, ref string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"inputs":{},"params":{"version":{"ref":%q}},"source":{"password":%q},"triggers":null}`, ref, password))
}

func newScene(t *testing.T, image string, idempotent bool, prior state.Snapshot) *scene {
	t.Helper()
	text := fmt.Sprintf("variable \"p\" {\n  sensitive = true\n  default = \"one\"\n}\nartifact \"out\" {\n  type = %q\n  source = { password = var.p }\n}\n"+
		"publish \"release\" {\n  artifact = artifact.out\n  params = { version = { ref = \"2\" } }\n  idempotent = %v\n}\n", image, idempotent)
	m, diags := config.Load(config.Sources{Workspace: "/w", Dir: "/w", Manifests: []config.File{{Path: "main.hcl", Bytes: []byte(text)}}}, nil,
		config.Builtins{Version: "0.1.0", Home: "/"})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	s := &scene{world: artifacttest.NewWorld()}
	s.world.AddImage("acme/v1", artifact.Concourse1)
	s.world.AddImage("acme/v2", artifact.Artifacts2)
	for _, password := range []string{"one", "two"} {
		s.world.Change(fmt.Sprintf(`{"password":%q}`, password), func(l *artifacttest.Line) {
			l.Spaces[""] = []artifact.Versioned{{Version: artifact.Version{"ref": "1"}}}
			l.OnPut = func(string, json.RawMessage) { s.log = append(s.log, "put") }
		})
	}
	s.Client = New(Options{Client: s.world, Store: artifacttest.NewStore(t.TempDir(), s.world), Manifest: m, Prior: prior,
		Pins: func() map[string]artifacts.Pin { return nil }})
	s.Record(s)
	var err error
	if s.info, err = s.world.Info(t.Context(), artifact.Target{Reference: image}); err != nil {
		t.Fatal(err)
	}
	return s
}

// Put implements Journal.
func (s *scene) Put(_ string, p actions.Put) error {
	s.log = append(s.log, map[bool]string{true: "record what is put", false: "record what it said"}[p.Answer == nil])
	return nil
}

func (s *scene) ask(image string, last, config json.RawMessage) (protocol.Answer, error) {
	in := protocol.StateInput{Config: config}
	if last != nil {
		in.LastConfig, in.LastState = last, json.RawMessage(`{"space":"","version":{"ref":"1"},"metadata":{},"created":[],"deleted":[]}`)
	}
	return s.State(context.Background(), typeclient.Target{Address: address, Reference: image}, protocol.Type{}, in)
}

// begun is a state in which a put was begun.
func begun(image string, speaks artifact.Protocol, config json.RawMessage, exit *int, said actions.Verdict, answer *artifact.Put) state.Snapshot {
	return state.Snapshot{Unsettled: map[string]actions.Unsettled{address: {Actions: []actions.Attempt{{Action: artifact.StepPut, Exit: exit, Said: said,
		Started: time.Unix(0, 0)}}, Put: &actions.Put{Config: config, Answer: answer, Info: artifact.Info{Protocol: speaks, Reference: image}}}}}
}

// What is recorded of a put is all that tells whether it is done: docs/artifact-images.md.
func TestPublish_IsDecidedByWhatIsRecorded(t *testing.T) {
	one, other := wished("one", "2"), wished("one", "3")
	ended, failed := new(0), new(7)
	said := &artifact.Put{Created: []artifact.Versioned{{Version: artifact.Version{"ref": "2"}}}, Metadata: artifact.Metadata{{Name: "by", Value: "me"}}}
	unknown, v1, v2 := (*int)(nil), artifact.Concourse1, artifact.Artifacts2
	notBegun := begun("acme/v1", v1, one, ended, "", nil)
	notBegun.Unsettled[address].Put.NotBegun = true
	before := func(exit *int, answer *artifact.Put) state.Snapshot { // another put followed, which was not begun
		s := begun("acme/v1", v1, one, exit, "", answer)
		was := s.Unsettled[address]
		s.Unsettled[address] = actions.Unsettled{Actions: []actions.Attempt{{Key: "2", Action: artifact.StepPut, Started: time.Unix(0, 0)}}, Was: &was}
		return s
	}
	for _, c := range []struct {
		name         string
		image        string
		idempotent   bool
		prior        state.Snapshot
		last, config json.RawMessage
		want         string
	}{
		{"nothing", "acme/v1", false, state.Snapshot{}, nil, one, "MISSING: nothing is recorded of a put: if it was published before, it is published again"},
		{"the same", "acme/v1", false, state.Snapshot{}, one, one, "VALID 1"},
		{"another password", "acme/v1", false, state.Snapshot{}, one, wished("two", "2"), "VALID 1"},
		{"other params", "acme/v1", false, state.Snapshot{}, one, other, "MISSING: what it is made of has changed"},
		{"ended well", "acme/v1", false, begun("acme/v1", v1, one, ended, "", said), nil, one, "VALID 2"},
		{"ended well, and changed since", "acme/v1", false, begun("acme/v1", v1, other, ended, "", said), nil, one, "MISSING: what it is made of has changed since the last put"},
		{"ended well, and said nothing, v1", "acme/v1", false, begun("acme/v1", v1, one, ended, "", nil), nil, one, "ERROR: The outcome of a put is unknown"},
		{"ended well, and said nothing, v2", "acme/v2", false, begun("acme/v2", v2, one, ended, "", nil), nil, one, "MISSING: put " +
			"again: the outcome of the last one is unknown, and it may be repeated"},
		{"said nothing, and a person says that it failed", "acme/v1", false, begun("acme/v1", v1, one, ended, "", nil).Judged(address, actions.Failed), nil, one, "MISSING: a user recorded that the last put failed"},
		{"said nothing, and a person says that it is done", "acme/v1", false, begun("acme/v1", v1, one, ended, "", nil).Judged(address, actions.Done), nil, one, "VALID 1"},
		{"was not begun", "acme/v1", false, notBegun, nil, one, "MISSING: the last put was not started"},
		{"was not begun, and what is recorded is meant again", "acme/v1", false, notBegun, one, one, "VALID 1"},
		{"was not begun, beside what is recorded", "acme/v1", false, notBegun, other, one, "MISSING: what it is made of has changed"},
		{"ended well, and another was not begun", "acme/v1", false, before(ended, said), other, one, "VALID 2"},
		{"ended well, and another was not begun, which is meant", "acme/v1", false, before(ended, said), other, other,
			"MISSING: what it is made of has changed since the last put"},
		{"failed, and another was not begun", "acme/v1", false, before(failed, nil), other, one,
			"MISSING: the last put ended with exit code 7; it may have published all the same"},
		{"failed, v1", "acme/v1", false, begun("acme/v1", v1, one, failed, "", nil), nil, one, "MISSING: the last put ended with exit code 7; it may have published all the same"},
		{"failed, v2", "acme/v2", false, begun("acme/v2", v2, one, failed, "", nil), nil, one, "MISSING: the last put ended with exit code 7"},
		{"unknown, v1", "acme/v1", false, begun("acme/v1", v1, one, unknown, "", nil), nil, one, "ERROR: The outcome of a put is unknown"},
		{"unknown, v1, and changed since", "acme/v1", false, begun("acme/v1", v1, other, unknown, "", nil), nil, one, "ERROR: The outcome of a put is unknown"},
		{"unknown, v1, beside what is recorded", "acme/v1", false, begun("acme/v1", v1, one, unknown, "", nil), one, one, "ERROR: The outcome of a put is unknown"},
		{"unknown, v1, idempotent", "acme/v1", true, begun("acme/v1", v1, one, unknown, "", nil), nil, one, "MISSING: put again: " +
			"the outcome of the last one is unknown, and it may be repeated"},
		{"unknown, v2", "acme/v2", false, begun("acme/v2", v2, one, unknown, "", nil), nil, one, "MISSING: put again: the outcome " +
			"of the last one is unknown, and it may be repeated"},
		{"unknown, v2, and changed since", "acme/v2", false, begun("acme/v2", v2, other, unknown, "", nil), nil, one, "MISSING: what it is made of has changed since the last put"},
		{"said to have failed", "acme/v1", false, begun("acme/v1", v1, one, unknown, actions.Failed, nil), nil, one, "MISSING: a " +
			"user recorded that the last put failed"},
		{"said to be done", "acme/v1", false, begun("acme/v1", v1, one, unknown, actions.Done, nil), nil, one, "VALID 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, c.image, c.idempotent, c.prior)
			if c.name == "ended well" {
				s.world.Change(`{"password":"one"}`, func(l *artifacttest.Line) {
					l.Spaces[""] = append(l.Spaces[""], artifact.Versioned{Version: artifact.Version{"ref": "2"}})
				})
			}
			answer, err := s.ask(c.image, c.last, c.config)
			if got := decided(t, answer, err); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if len(s.log) > 0 {
				t.Errorf("it was put to find out: %v", s.log)
			}
		})
	}
}

// decided puts an answer into a line.
// What has moved is said of inputs; what else has changed, the diff says.
func TestPublish_ReportsWhichInputMoved(t *testing.T) {
	t.Parallel()
	config := func(n string, inputs string) json.RawMessage {
		return json.RawMessage(`{"inputs":{` + inputs + `},"params":{"n":"` + n + `"},"source":{},"triggers":null}`)
	}
	one := `"site":{"type":"t","space":"","version":{"ref":"1"},"params":{}}`
	two := strings.ReplaceAll(one, `"1"`, `"2"`)
	for _, c := range []struct {
		was, now json.RawMessage
		want     string
	}{
		{config("1", `"build":"build",`+one), config("2", `"build":"build",`+one), "what it is made of has changed"},
		{config("1", one), config("1", two), "because inputs.site is another version"},
		{config("1", one), config("2", two), "because inputs.site is another version"},
		{config("1", ""), config("1", two), "what it is made of has changed"},
		{config("1", one+strings.Replace(","+one, "site", "base", 1)), config("1", two+strings.Replace(","+two, "site", "base", 1)),
			"because inputs.base, inputs.site are other versions"},
	} {
		if got := changed(c.was, c.now); got != c.want {
			t.Errorf("%s to %s: %q, want %q", c.was, c.now, got, c.want)
		}
	}
}

// An image that lists nothing is asked once after its put, and nobody is warned: notifiers
// do so each time. One that lists others is asked again.
func TestPublish_DoesNotWaitForWhoListsNothing(t *testing.T) {
	t.Parallel()
	created := []artifact.Versioned{{Version: artifact.Version{"ref": "2"}}}
	for image, lists := range map[string]bool{"acme/v1": true, "acme/v2": false} {
		s := newScene(t, image, false, state.Snapshot{})
		s.o.Warn = func(d *diag.Diagnostic) { t.Errorf("%s: %s", image, d.Summary) }
		s.world.Change(`{"password":"one"}`, func(l *artifacttest.Line) { l.Spaces = map[string][]artifact.Versioned{} })
		s.world.TakeLog()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 800*time.Millisecond) // the second protocol has to list it: it is asked until then
			defer cancel()
			_, found := s.listed(ctx, typeclient.Target{Address: address, Reference: image}, s.info, wished("one", "2"), created, Published{})
			if n := len(s.world.TakeLog()); found || (n == 1) != lists {
				t.Errorf("%s: found %v, asked %d times", image, found, n)
			}
		})
	}
}

// mock-resource and time-resource list what they are asked from, and one of their own
// otherwise: after a put they are asked from what they have put.
func TestPublish_QueriesFromWhatWasPut(t *testing.T) {
	t.Parallel()
	s := newScene(t, "acme/v1", false, state.Snapshot{})
	s.o.Warn = func(d *diag.Diagnostic) { t.Error(d.Summary) }
	s.o.Client = echoing{s.world}
	created := []artifact.Versioned{{Version: artifact.Version{"ref": "2"}}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond) // a second look would come later
		defer cancel()
		v, found := s.listed(ctx, typeclient.Target{Address: address, Reference: "acme/v1"}, s.info, wished("one", "2"), created,
			Published{Version: artifact.Version{"ref": "1"}})
		if !found || v.Version["ref"] != "2" {
			t.Errorf("%+v, %v", v, found)
		}
	})
}

// echoing is a world that lists the version from which it is asked, or the version "mock".
type echoing struct{ *artifacttest.World }

func (echoing) Check(_ context.Context, _ artifact.Target, _ artifact.Info, in artifact.CheckInput) (artifact.Checked, error) {
	v := artifact.Versioned{Version: artifact.Version{"ref": "mock"}}
	if from := in.From[""]; from != nil {
		v.Version = from
	}
	return artifact.Checked{Spaces: map[string]artifact.Space{"": {Last: v, Count: 1}}, Newest: []artifact.Versioned{v}}, nil
}

func decided(t *testing.T, a protocol.Answer, err error) string {
	t.Helper()
	if err != nil {
		return "ERROR: " + diag.From("", err)[0].Summary
	}
	if a.Status != protocol.Valid {
		return fmt.Sprintf("%s: %s", a.Status, a.Reasons[0].Message)
	}
	var p Published
	if err := json.Unmarshal(a.State, &p); err != nil {
		t.Fatal(err)
	}
	return "VALID " + p.Version["ref"]
}

// The evidence is what a person decides by.
func TestPublish_ReportsWhatIsListedOfAnUnknownEnd(t *testing.T) {
	one := wished("one", "2")
	s := newScene(t, "acme/v1", false, begun("acme/v1", artifact.Concourse1, one, nil, "", nil))
	_, err := s.ask("acme/v1", one, one)
	for _, want := range []string{"The newest versions that its image lists now: 1.", "Published last, as far as is recorded: 1.", "resolve -as=done"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
	s.world.Fail(artifact.StepCheck, errors.New("no route"))
	if _, err = s.ask("acme/v1", one, one); err == nil || !strings.Contains(err.Error(), "failed to list the versions: no route. Check") {
		t.Errorf("%v", err)
	}
}

// Nobody counts what was never listed as published.
func TestPublish_RecordedAsDoneNeedsAVersion(t *testing.T) {
	one := wished("one", "2")
	s := newScene(t, "acme/v1", false, begun("acme/v1", artifact.Concourse1, one, nil, actions.Done, nil))
	s.world.Change(`{"password":"one"}`, func(l *artifacttest.Line) { delete(l.Spaces, "") })
	if _, err := s.ask("acme/v1", nil, one); err == nil || !strings.Contains(err.Error(), "Nothing was published") {
		t.Errorf("%v", err)
	}
}

// A put is on record before it begins, and what it said before anybody is told of its end.
func TestPublish_IsOnRecordBeforeItBegins(t *testing.T) {
	s := newScene(t, "acme/v1", false, state.Snapshot{})
	in := protocol.ActionInput{StateInput: protocol.StateInput{Config: wished("one", "2")}, Action: artifact.StepPut, IdempotencyKey: "key"}
	target := typeclient.Target{Address: address, Reference: "acme/v1"}
	if _, err := s.ActNotify(t.Context(), target, protocol.Type{}, putAction, in, func(runner.Result, error) error {
		s.log = append(s.log, "told of its end")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"record what is put", "put", "record what it said", "told of its end"}; !slices.Equal(s.log, want) {
		t.Errorf("%q, want %q", s.log, want)
	}
	// Who asks afterwards gets what was put.
	if answer, err := s.ask("acme/v1", nil, in.Config); decided(t, answer, err) != "VALID 2" {
		t.Errorf("%+v, %v", answer, err)
	}
}

// A put that only deletes leaves what was published before as it is.
func TestPublish_OnlyDeletes(t *testing.T) {
	s := newScene(t, "acme/v2", false, state.Snapshot{})
	gone := []artifact.Versioned{{Version: artifact.Version{"ref": "0"}}}
	made, err := s.finish(t.Context(), typeclient.Target{Address: address, Reference: "acme/v2"}, s.info, wished("one", "2"), artifact.Put{Deleted: gone},
		json.RawMessage(`{"space":"main","version":{"ref":"1"},"metadata":{"by":"me"},"created":[],"deleted":[]}`))
	if want := `{"space":"main","version":{"ref":"1"},"metadata":{"by":"me"},"created":[],"deleted":[{"space":"","version":{"ref":"0"}}]}`; string(made) != want || err != nil {
		t.Errorf("%s, %v\nwant %s", made, err, want)
	}
}

// A put has the key of its action, by which a later command takes it over.
func TestPublish_HasTheKeyOfItsAction(t *testing.T) {
	s := newScene(t, "acme/v1", false, state.Snapshot{})
	client := &keyed{World: s.world}
	s.o.Client = client
	target := typeclient.Target{Address: address, Reference: "acme/v1"}
	for _, key := range []string{"one", "two"} {
		in := protocol.ActionInput{StateInput: protocol.StateInput{Config: wished("one", "2")}, Action: artifact.StepPut, IdempotencyKey: key}
		if _, err := s.ActNotify(t.Context(), target, protocol.Type{}, putAction, in, func(runner.Result, error) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"one", "two"}; !slices.Equal(client.ids, want) {
		t.Errorf("%q, want %q", client.ids, want)
	}
}

// keyed is a world that notes by which keys is put.
type keyed struct {
	*artifacttest.World
	ids []string
}

func (w *keyed) Put(ctx context.Context, t artifact.Target, i artifact.Info, in artifact.PutInput) (artifact.Put, error) {
	w.ids = append(w.ids, in.ID)
	return w.World.Put(ctx, t, i, in)
}

// A put whose inputs cannot be copied was not begun, and nobody is asked how it ended.
func TestPublish_OnRecordThatItWasNotBegun(t *testing.T) {
	s := newScene(t, "acme/v1", false, state.Snapshot{})
	s.world.Fail(artifact.StepPut, &runner.UnknownError{})
	in := protocol.ActionInput{StateInput: protocol.StateInput{Config: wished("one", "2")}, Action: artifact.StepPut, IdempotencyKey: "key"}
	target := typeclient.Target{Address: address, Reference: "acme/v1"}
	var records []actions.Put
	s.Record(puts(func(p actions.Put) { records = append(records, p) }))
	s.Client.o.Client = unstarted{s.world}
	for _, failure := range []error{errors.New("no space left on device"), &runner.UnknownError{}} {
		s.world.Fail(artifact.StepPut, failure)
		if _, err := s.ActNotify(t.Context(), target, protocol.Type{}, putAction, in, func(runner.Result, error) error { return nil }); err == nil {
			t.Errorf("%v: the put went well", failure)
		}
	}
	if len(records) != 3 || records[0].NotBegun || !records[1].NotBegun || records[2].NotBegun {
		t.Errorf("%+v", records)
	}
}

// puts is a Journal.
type puts func(actions.Put)

func (f puts) Put(_ string, p actions.Put) error { f(p); return nil }

// unstarted is a world whose puts fail before their programs are started.
type unstarted struct{ *artifacttest.World }

func (w unstarted) Put(ctx context.Context, t artifact.Target, i artifact.Info, in artifact.PutInput) (artifact.Put, error) {
	in.Ended = nil
	return w.World.Put(ctx, t, i, in)
}

// What -replace asks for is put once: who goes on with a plan whose run died has what was put.
func TestPublish_ReplaceNamesItOnce(t *testing.T) {
	one := wished("one", "2")
	said := &artifact.Put{Created: []artifact.Versioned{{Version: artifact.Version{"ref": "1"}}}}
	for want, prior := range map[string]state.Snapshot{
		"MISSING: -replace names it": {},
		"VALID 1":                    begun("acme/v1", artifact.Concourse1, one, new(0), "", said),
	} {
		s := newScene(t, "acme/v1", false, prior)
		s.o.Again = []string{address}
		if answer, err := s.ask("acme/v1", one, one); decided(t, answer, err) != want {
			t.Errorf("%+v, %v, want %s", answer, err, want)
		}
	}
}
