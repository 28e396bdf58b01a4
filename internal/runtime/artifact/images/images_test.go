package images

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/runnertest"
	"deployster/internal/runtime/runner/typeclient"
)

var _ artifact.Client = (*Client)(nil)

// image is a program of the fake that answers as told, and keeps what it was asked.
type image struct {
	info, check, in, out string // answers: on stdout, or in the response file
	code                 int
	fails                string // the step that exits with the code
	asked                []string
	cwds                 []string
	v2                   bool
	checkAgain           string // v1: of a check without a version; "" = check
}

func (p *image) run(_ context.Context, s runner.Spec, stdin io.Reader, stdout, stderr io.Writer) int {
	line, _ := io.ReadAll(stdin)
	step := "info"
	switch {
	case s.Entrypoint != "" && !p.v2:
		step = filepath.Base(s.Entrypoint)
	case s.Entrypoint != "":
		step = s.Args[0]
	}
	p.asked = append(p.asked, step+" "+strings.Join(s.Args, " ")+" <"+string(line))
	p.cwds = append(p.cwds, s.Cwd)
	answer := map[string]string{"info": p.info, "check": p.check, "in": p.in, "get": p.in, "out": p.out, "put": p.out}[step]
	if step == "check" && p.checkAgain != "" && !strings.Contains(string(line), `"version"`) {
		answer = p.checkAgain
	}
	if dir, _, ok := runnertest.Path(s, getDir); ok {
		_ = os.WriteFile(filepath.Join(dir, "file"), []byte("content"), 0o644)
	}
	if response, _, ok := runnertest.Path(s, responsePath); ok {
		if answer != "none" {
			_ = os.WriteFile(response, []byte(answer), 0o644)
		}
		answer = "a log on stdout\n"
	}
	_, _ = io.WriteString(stdout, answer)
	if p.fails == step {
		_, _ = io.WriteString(stderr, "no such thing\n")
		return p.code
	}
	return 0
}

const v2Info = `{"artifacts":{"api_version":"2.0","check":"/art check","get":"/art 'get' \"two words\"","put":{"entrypoint":"/art","args":["put"]}},"icon":"x"}`

// env runs an image.
type env struct {
	*Client
	image  *image
	target artifact.Target
	info   artifact.Info
}

func newEnv(t *testing.T, p *image) *env {
	t.Helper()
	f := runnertest.NewFake()
	f.Add("acme/it", p.run)
	if p.v2 = p.info != ""; !p.v2 {
		f.AddFiles("acme/it", "/opt/resource/check", "/opt/resource/in", "/opt/resource/out")
	}
	l := &env{New(Options{Types: typeclient.New(typeclient.Options{Runner: f}), Inspector: f}), p,
		artifact.Target{Address: "artifact.a", Reference: "acme/it"}, artifact.Info{}}
	var err error
	if l.info, err = l.Info(t.Context(), l.target); err != nil {
		t.Fatal(err)
	}
	p.asked = nil
	return l
}

func (l *env) check(t *testing.T, in artifact.CheckInput) (artifact.Checked, error) {
	t.Helper()
	in.Fresh = true
	return l.Check(t.Context(), l.target, l.info, in)
}

const source = `{"uri":"x","b":{"c":1}}`

func TestInfo_ReportsProtocols(t *testing.T) {
	for _, c := range []struct {
		name, answer, want string
		class              artifact.Class
	}{
		{"v2", v2Info, "", ""},
		{"minor version", strings.Replace(v2Info, "2.0", "2.7", 1), "", ""},
		{"another version", strings.Replace(v2Info, "2.0", "3.0", 1), `uses api_version "3.0"`, artifact.Broken},
		{"no check", `{"artifacts":{"api_version":"2.0","get":"x"}}`, `"artifacts.check" is missing`, artifact.Broken},
		{"open quote", `{"artifacts":{"api_version":"2.0","check":"'x","get":"x"}}`, "not closed", artifact.Broken},
		{"a number", `{"artifacts":{"api_version":"2.0","check":1,"get":"x"}}`, "a number", artifact.Broken},
		{"a resource type", `{"protocol":2,"state_action":{"args":["state"]}}`, "use it in a resource block", artifact.Foreign},
		{"something else", `{"a":1}`, "does not declare its kind", artifact.Foreign},
		{"garbage", `hello`, "does not declare its kind", artifact.Foreign},
	} {
		f := runnertest.NewFake()
		f.Add("acme/it", (&image{info: c.answer, v2: true}).run)
		cl := New(Options{Types: typeclient.New(typeclient.Options{Runner: f}), Inspector: f})
		i, err := cl.Info(t.Context(), artifact.Target{Address: "artifact.a", Reference: "acme/it"})
		if c.want == "" {
			if err != nil || i.Protocol != artifact.Artifacts2 || !i.CanPut() || i.Get.Entrypoint != "/art" ||
				!reflect.DeepEqual(i.Get.Args, []string{"get", "two words"}) || i.Digest == "" {
				t.Errorf("%s: %+v, %v", c.name, i, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || artifact.ClassOf(err) != c.class {
			t.Errorf("%s: %s, %v", c.name, artifact.ClassOf(err), err)
		}
	}
	if l := newEnv(t, &image{}); l.info.Protocol != artifact.Concourse1 || !l.info.CanPut() {
		t.Errorf("v1: %+v", l.info)
	}
}

// What stands on stdin, byte by byte: some images refuse what they do not know.
func TestClient_PrintsExactly(t *testing.T) {
	recipe := func(l *env, params string) artifact.Recipe {
		return artifact.NewRecipe(l.info, runner.Settings{}, json.RawMessage(source), json.RawMessage(params),
			artifact.Versioned{Space: "main", Version: artifact.Version{"ref": "1"}})
	}
	take := func(string) error { return nil }
	v1 := func(t *testing.T) *env {
		return newEnv(t, &image{check: `[{"ref":"1"}]`, in: `{"version":{"ref":"1"}}`, out: `{"version":{"ref":"1"}}`})
	}
	v2 := func(t *testing.T) *env {
		return newEnv(t, &image{info: v2Info, out: `{"type":"created","space":"main","version":{"ref":"1"}}`})
	}
	for _, c := range []struct {
		name   string
		newEnv func(*testing.T) *env
		do     func(*env) error
		want   string
		cwd    string
	}{
		{"v1 check", v1, func(l *env) error {
			_, err := l.check(t, artifact.CheckInput{Source: json.RawMessage(source)})
			return err
		},
			`check  <{"source":{"b":{"c":1},"uri":"x"}}`, ""},
		{"v1 check from", v1, func(l *env) error {
			_, err := l.check(t, artifact.CheckInput{Source: json.RawMessage(source), From: map[string]artifact.Version{"": {"ref": "<1>"}}})
			return err
		}, `check  <{"source":{"b":{"c":1},"uri":"x"},"version":{"ref":"<1>"}}`, ""},
		{"v1 get", v1, func(l *env) error {
			_, err := l.Get(t.Context(), l.target, l.info, artifact.GetInput{Recipe: recipe(l, ""), Take: take})
			return err
		}, `in /tmp/build/get <{"source":{"b":{"c":1},"uri":"x"},"version":{"ref":"1"}}`, getDir},
		{"v1 get with params", v1, func(l *env) error {
			_, err := l.Get(t.Context(), l.target, l.info, artifact.GetInput{Recipe: recipe(l, `{"depth":1}`), Take: take})
			return err
		}, `in /tmp/build/get <{"source":{"b":{"c":1},"uri":"x"},"params":{"depth":1},"version":{"ref":"1"}}`, getDir},
		{"v1 put", v1, func(l *env) error {
			_, err := l.Put(t.Context(), l.target, l.info, artifact.PutInput{ID: "1", Source: json.RawMessage(source)})
			return err
		}, `out /tmp/build/put <{"source":{"b":{"c":1},"uri":"x"}}`, putDir},
		{"v2 check", v2, func(l *env) error {
			_, err := l.check(t, artifact.CheckInput{Source: json.RawMessage(source)})
			return err
		},
			`check check <{"config":{"b":{"c":1},"uri":"x"},"from":{},"response_path":"/tmp/build/response/answer"}`, ""},
		{"v2 check from", v2, func(l *env) error {
			_, err := l.check(t, artifact.CheckInput{From: map[string]artifact.Version{"main": {"ref": "1"}}})
			return err
		}, `check check <{"config":{},"from":{"main":{"ref":"1"}},"response_path":"/tmp/build/response/answer"}`, ""},
		{"v2 get", v2, func(l *env) error {
			_, err := l.Get(t.Context(), l.target, l.info, artifact.GetInput{Recipe: recipe(l, `{"uri":"y","d":2}`), Take: take})
			return err
		}, `get get two words <{"config":{"b":{"c":1},"d":2,"uri":"y"},"space":"main","version":{"ref":"1"}}`, getDir},
		{"v2 put", v2, func(l *env) error {
			_, err := l.Put(t.Context(), l.target, l.info, artifact.PutInput{ID: "1", Source: json.RawMessage(source), Params: json.RawMessage(`{"n":1}`)})
			return err
		}, `put put <{"config":{"b":{"c":1},"n":1,"uri":"x"},"response_path":"/tmp/build/response/answer"}`, putDir},
	} {
		l := c.newEnv(t)
		if err := c.do(l); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		names := map[string]string{"v1 check": "check-input-1", "v1 get": "get-input-1", "v1 put": "put-input-1", "v2 check": "check-input",
			"v2 get": "get-input", "v2 put": "put-input"}
		_, said, _ := strings.Cut(l.image.asked[0], " <")
		published(t, names[strings.Join(strings.Fields(c.name)[:2], " ")], said)
		if len(l.image.asked) != 1 || l.image.asked[0] != c.want+"\n" || l.image.cwds[len(l.image.cwds)-1] != c.cwd {
			t.Errorf("%s:\ngot  %q in %q\nwant %q", c.name, l.image.asked, l.image.cwds, c.want)
		}
	}
}

// published holds a message to one of the published schemas.
func published(t *testing.T, name, message string) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("../../../../docs/schemas", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(message))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("%s: %v in %s", name, err, message)
	}
}

// The answers of docs/artifact-images.md are those that the schemas describe and the
// readers take.
func TestAnswers_AreAsThePageHasThem(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/artifact-images.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, block := range strings.Split(string(page), "```json\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			seen++
			var err error
			switch {
			case strings.Contains(line, `"artifacts"`):
				published(t, "artifacts-info", line)
				_, _, err = readInfo([]byte(line))
			case strings.Contains(line, `"type"`):
				published(t, "put-line", line)
				_, err = putLines(strings.NewReader(line))
			default:
				published(t, "check-line", line)
				err = eachLine(strings.NewReader(line), newListed(artifact.CheckInput{}).checkLine)
			}
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d answers were seen", seen)
	}
	published(t, "check-answer-1", `[{"ref":"1"}]`)
	published(t, "check-answer-1", `null`)
	published(t, "made-answer-1", `{"version":{"ref":"1"},"metadata":null}`)
	published(t, "made-answer-1", `{"version":{"ref":"1"},"metadata":[{"name":"url","value":null},{"name":"x"}]}`)
}

func TestCheck_OfV1IsLenientWhereItMustBe(t *testing.T) {
	one := artifact.Version{"ref": "1"}
	for _, c := range []struct {
		name, answer string
		from         artifact.Version
		want         string // the versions; or what the error says
	}{
		{"a list", `[{"ref":"1"},{"ref":"2"}]`, nil, "1 2"},
		{"null", "null\n", nil, ""},
		{"nothing", " \n", nil, ""},
		{"two values", `[{"ref":"1"}][{"ref":"2"}] garbage`, nil, "1"},
		{"a number", `[{"ref":1}]`, nil, `version 1: "ref" of the version is a number, and must be text`},
		{"null in it", `[{"ref":"1"},{"ref":null}]`, nil, `version 2: "ref" of the version is null, and must be text`},
		{"a text", `["1"]`, nil, "version 1: the version is a string"},
		{"an object", `{"ref":"1"}`, nil, "must be a list of versions"},
		{"garbage", `hello`, nil, "invalid character"},
		{"half", `[{"ref":"1"}`, nil, "in the middle"},
		{"a name twice", `[{"ref":"1","ref":"2"}]`, nil, "ref"},
	} {
		l := newEnv(t, &image{check: c.answer})
		in := artifact.CheckInput{}
		if c.from != nil {
			in.From = map[string]artifact.Version{"": c.from}
		}
		out, err := l.check(t, in)
		var got []string
		for _, v := range out.Newest {
			got = append(got, v.Version.String())
		}
		if err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want) || artifact.ClassOf(err) != artifact.Broken) ||
			err == nil && strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	// The one asked from is still there; the newest may be an older one; the history may be another.
	for _, c := range []struct {
		name, answer, again string
		want                artifact.Checked
	}{
		{"goes on", `[{"ref":"1"},{"ref":"2"},{"ref":"3"}]`, "", artifact.Checked{Spaces: map[string]artifact.Space{"": {Count: 3,
			Last: artifact.Versioned{Version: artifact.Version{"ref": "3"}}, Continues: true}}}},
		{"is not first", `[{"ref":"0"},{"ref":"1"},{"ref":"2"}]`, "", artifact.Checked{Spaces: map[string]artifact.Space{"": {
			Count: 3, Last: artifact.Versioned{Version: artifact.Version{"ref": "2"}}, Continues: true}}}},
		{"rewritten", `[]`, `[{"ref":"0"}]`, artifact.Checked{Spaces: map[string]artifact.Space{"": {Count: 1,
			Last: artifact.Versioned{Version: artifact.Version{"ref": "0"}}}}}},
		{"silent", `[]`, `null`, artifact.Checked{Silent: true, Spaces: map[string]artifact.Space{}}},
	} {
		l := newEnv(t, &image{check: c.answer, checkAgain: c.again})
		out, err := l.check(t, artifact.CheckInput{From: map[string]artifact.Version{"": one}})
		out.Newest = nil
		if err != nil || !reflect.DeepEqual(out, c.want) {
			t.Errorf("%s: %+v, %v", c.name, out, err)
		}
		if asked := len(l.image.asked); asked != 1 && c.again == "" || asked != 2 && c.again != "" {
			t.Errorf("%s: asked %d times", c.name, asked)
		}
	}
}

func TestCheck_OfV2KeepsToTheLetter(t *testing.T) {
	line := func(space, ref string) string {
		return fmt.Sprintf(`{"space":%q,"version":{"ref":%q}}`, space, ref) + "\n"
	}
	for _, c := range []struct{ name, answer, want string }{
		{"two spaces", line("a", "1") + line("b", "1") + `{"default_space":"b"}` + "\n" + line("b", "2"), "b: 1 2"},
		{"no default", line("a", "1"), ": "},
		{"no file", "none", ": "},
		{"empty", "", ": "},
		{"default of no line", `{"default_space":"z"}`, "z: "},
		{"blank lines and others' keys", "\n" + `{"space":"","version":{"ref":"1"},"more":1}` + "\n\n", ": 1"},
		{"default twice", `{"default_space":"a"}` + "\n" + `{"default_space":"a"}`, "line 2: the default space was named before"},
		{"half a line", line("a", "1") + `{"space":"a","ver`, "line 2"},
		{"no version", `{"space":"a"}`, "line 1: the version is missing"},
		{"no space", `{"version":{"ref":"1"}}`, `line 1: "space" is missing`},
		{"a number", `{"space":"a","version":{"n":1}}`, "a number"},
		{"a space of a number", `{"space":1,"version":{"ref":"1"}}`, `"space" is a number, and must be text`},
		{"a default space of null", `{"default_space":null}`, `"default_space" is null, and must be text`},
		{"a list", `[]`, "line 1"},
		{"metadata of any case", `{"default_space":"a"}` + "\n" + `{"space":"a","version":{"ref":"1"},"metadata":[{"Name":"x","VALUE":"y","type":"z"}]}`, "a: 1"},
		{"metadata of null", `{"space":"a","version":{"ref":"1"},"metadata":[{"name":"x","value":null}]}`, "the value of field 1 of the metadata is null"},
		{"metadata without value", `{"space":"a","version":{"ref":"1"},"metadata":[{"name":"x"}]}`, "the value of field 1 of the metadata is missing"},
		{"metadata of numbers", `{"space":"a","version":{"ref":"1"},"metadata":[{"name":"x","value":1}]}`, "the value of field 1"},
		{"metadata null", `{"space":"a","version":{"ref":"1"},"metadata":null}`, "must be a list"},
		{"too much metadata", `{"space":"a","version":{"ref":"1"},"metadata":[` + strings.Repeat(`{"name":"x","value":"y"},`, 100) + `{"name":"x","value":"y"}]}`,
			"may have at most 100"},
		{"a long line", `{"space":"` + strings.Repeat("x", maxLine) + `"}`, "line 1 is longer"},
	} {
		l := newEnv(t, &image{info: v2Info, check: c.answer})
		out, err := l.check(t, artifact.CheckInput{})
		got := out.Selected + ":"
		for _, v := range out.Newest {
			got += " " + v.Version.String()
		}
		if got == out.Selected+":" {
			got += " "
		}
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && got != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
		if err != nil && artifact.ClassOf(err) != artifact.Broken {
			t.Errorf("%s: class %s", c.name, artifact.ClassOf(err))
		}
	}
	from := map[string]artifact.Version{"a": {"ref": "1"}, "b": {"ref": "1"}, "gone": {"ref": "1"}}
	l := newEnv(t, &image{info: v2Info, check: line("a", "1") + line("b", "0") + line("b", "1") + line("a", "2")})
	out, err := l.check(t, artifact.CheckInput{From: from, Space: "a"})
	if err != nil || !out.Spaces["a"].Continues || out.Spaces["b"].Continues || len(out.Spaces) != 2 {
		t.Errorf("from: %+v, %v", out, err)
	}
}

// Metadata stays in the order of the image, also equal names.
func TestCheck_KeepsMetadataInOrder(t *testing.T) {
	l := newEnv(t, &image{info: v2Info, check: `{"default_space":"a"}` + "\n" +
		`{"space":"a","version":{"ref":"1"},"metadata":[{"Name":"z","VALUE":"1"},{"name":"b","value":"2","type":"time"},{"name":"z","value":"3"}]}`})
	out, err := l.check(t, artifact.CheckInput{})
	v, _ := out.Found()
	if want := (artifact.Metadata{{Name: "z", Value: "1"}, {Name: "b", Value: "2"}, {Name: "z", Value: "3"}}); err != nil || !reflect.DeepEqual(v.Metadata, want) {
		t.Errorf("%+v, %v", v.Metadata, err)
	}
}

// A million versions are read as a stream, and the newest are kept.
func TestCheck_OfMany(t *testing.T) {
	var b bytes.Buffer
	const n = 50_000
	for i := range n {
		fmt.Fprintf(&b, "{\"space\":\"s%d\",\"version\":{\"ref\":\"%d\"}}\n", i%2000, i)
	}
	l := newListed(artifact.CheckInput{Space: "s1999", Keep: 3})
	if err := eachLine(&b, l.checkLine); err != nil {
		t.Fatal(err)
	}
	out := l.checked()
	if len(out.Newest) != 3 || out.Newest[2].Version["ref"] != fmt.Sprint(n-1) || len(out.Spaces) != 1 || out.Spaces["s1999"].Count != n/2000 {
		t.Errorf("%+v", out)
	}
}

// What is kept of a check is bounded in sum; what is only passed on is not.
func TestCheck_OfMuch(t *testing.T) {
	const n, each = 100, 1000
	for name, c := range map[string]struct {
		selected, space string // of a line
		budget          int
		refused         bool
	}{
		"one space":              {"s", "s", 8 * each, false}, // three newest, up to twice, and the last
		"one that is not chosen": {"s", "t", 2 * each, false},
		"many spaces":            {"s", "", n * each / 2, true},
		"nobody knows which":     {"", "", n*each + n*each/2, true},
		"there is room for it":   {"", "", 3 * n * each, false},
	} {
		l := newListed(artifact.CheckInput{Space: c.selected, Keep: 3})
		l.budget = c.budget
		var err error
		for i := 0; i < n && err == nil; i++ {
			space := c.space
			if space == "" {
				space = fmt.Sprint(i)
			}
			err = l.checkLine(fmt.Appendf(nil, `{"space":%q,"version":{"ref":"%d"},"metadata":[{"name":"m","value":%q}]}`, space, i, strings.Repeat("x", each)))
		}
		if err == nil {
			l.selectSpace("0")
		}
		if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "that is kept of a check") {
			t.Errorf("%s: %v", name, err)
		}
		if last := l.out.Spaces["0"].Last; name == "there is room for it" && l.budget != c.budget-n*size(last)-size(last)-2*(n-10) {
			t.Errorf("%d bytes of room are left of %d", l.budget, c.budget)
		}
	}
}

func TestCheck_IsShared(t *testing.T) {
	l := newEnv(t, &image{check: `[{"ref":"1"}]`})
	in := artifact.CheckInput{Source: json.RawMessage(source)}
	for range 3 {
		if _, err := l.Check(t.Context(), l.target, l.info, in); err != nil {
			t.Fatal(err)
		}
	}
	in.Source = json.RawMessage(`{"uri":"y"}`)
	if _, err := l.Check(t.Context(), l.target, l.info, in); err != nil || len(l.image.asked) != 2 {
		t.Errorf("asked %d times, %v", len(l.image.asked), err)
	}
	l.image.fails, l.image.code = "check", 1
	in.Source = json.RawMessage(`{"uri":"z"}`)
	for range 2 {
		if _, err := l.Check(t.Context(), l.target, l.info, in); artifact.ClassOf(err) != artifact.Failed || !strings.Contains(err.Error(), "no such thing") {
			t.Errorf("failed: %v", err)
		}
	}
	if len(l.image.asked) != 4 {
		t.Errorf("a failure is kept: asked %d times", len(l.image.asked))
	}
}

func TestGet_GivesTheFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		p    *image
		want artifact.Metadata
		err  artifact.Class
	}{
		{"v2", &image{info: v2Info}, nil, ""},
		{"v1 with a key more", &image{in: `{"version":{"ref":"1","privileged":"true"},"metadata":[{"name":"author","value":"ann","type":"x"}],"more":[]}`},
			artifact.Metadata{{Name: "author", Value: "ann"}}, ""},
		{"v1 metadata null", &image{in: `{"version":{"ref":"1"},"metadata":null}`}, nil, ""},
		{"v1 garbage", &image{in: `hello`}, nil, artifact.Broken},
		{"v1 nothing", &image{}, nil, artifact.Broken},
		{"unavailable", &image{info: v2Info, fails: "get", code: 3}, nil, artifact.Failed},
	} {
		l := newEnv(t, c.p)
		content := ""
		got, err := l.Get(t.Context(), l.target, l.info, artifact.GetInput{
			Recipe: artifact.NewRecipe(l.info, runner.Settings{}, nil, nil, artifact.Versioned{Version: artifact.Version{"ref": "1"}}),
			Take: func(dir string) error {
				b, err := os.ReadFile(filepath.Join(dir, "file"))
				content = string(b)
				return err
			}})
		if c.err == "" && err != nil || c.err != "" && artifact.ClassOf(err) != c.err || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if taken := content == "content"; taken != (c.err != artifact.Failed) {
			t.Errorf("%s: the files are %q", c.name, content)
		}
	}
	full := errors.New("full")
	l := newEnv(t, &image{info: v2Info})
	if _, err := l.Get(t.Context(), l.target, l.info, artifact.GetInput{Take: func(string) error { return full }}); !errors.Is(err, full) {
		t.Errorf("not taken: %v", err)
	}
}

func TestPut_ReportsWhatItDid(t *testing.T) {
	line := func(kind, space, ref string) string {
		return fmt.Sprintf(`{"type":%q,"space":%q,"version":{"ref":%q}}`, kind, space, ref) + "\n"
	}
	for _, c := range []struct {
		name string
		p    *image
		want string // created / deleted
		err  string
	}{
		{"v2", &image{info: v2Info, out: line("created", "m", "1") + line("deleted", "m", "0") + line("created", "m", "2")}, "1 2 / 0", ""},
		{"only deletes", &image{info: v2Info, out: line("deleted", "m", "0")}, " / 0", ""},
		{"no file", &image{info: v2Info, out: "none"}, " / ", "put printed no version"},
		{"empty", &image{info: v2Info, out: ""}, " / ", "put printed no version"},
		{"two spaces", &image{info: v2Info, out: line("created", "a", "1") + line("created", "b", "1")}, "1 1 / ", "it changed 2 spaces (a, b)"},
		{"another type", &image{info: v2Info, out: line("moved", "a", "1")}, " / ", `"type" is "moved"`},
		{"failed after one", &image{info: v2Info, out: line("created", "m", "1"), fails: "put", code: 4}, "1 / ", "exit code 4"},
		{"failed over a line", &image{info: v2Info, out: line("created", "m", "1") + `{"ty`, fails: "put", code: 4}, "1 / ", "exit code 4"},
		{"v1", &image{out: `{"version":{"ref":"1"},"metadata":[{"name":"a","value":"b"}]}`}, "1 / ", ""},
		{"v1 metadata of null", &image{out: `{"version":{"ref":"1"},"metadata":[{"name":"url","value":null},{"name":"x"},{"value":"y"},{}]}`}, "1 / ", ""},
		{"v1 metadata of numbers", &image{out: `{"version":{"ref":"1"},"metadata":[{"name":"n","value":1}]}`}, " / ", "the value of field 1 of the metadata is a number"},
		{"v1 nothing", &image{out: ``}, " / ", "put printed no version"},
		{"v1 no version", &image{out: `{}`}, " / ", "it names no version"},
		{"v1 null", &image{out: `{"version":null}`}, " / ", "it names no version"},
		{"v1 failed", &image{fails: "out", code: 1}, " / ", "no such thing"},
	} {
		l := newEnv(t, c.p)
		said := func(p artifact.Put) string {
			var parts [2][]string
			for i, list := range [][]artifact.Versioned{p.Created, p.Deleted} {
				for _, v := range list {
					parts[i] = append(parts[i], v.Version.String())
				}
			}
			return strings.Join(parts[0], " ") + " / " + strings.Join(parts[1], " ")
		}
		var told string
		var result runner.Result
		put, err := l.Put(t.Context(), l.target, l.info, artifact.PutInput{ID: "1", Ended: func(p artifact.Put, r runner.Result, err error) error {
			told, result = said(p)+fmt.Sprint(err), r
			return nil
		}})
		if said(put) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v", c.name, said(put), err)
		}
		if told != said(put)+fmt.Sprint(err) {
			t.Errorf("%s: told %q", c.name, told)
		}
		adopted, again := l.ReadPut(l.target, l.info, result)
		if !reflect.DeepEqual(adopted, put) || fmt.Sprint(again) != fmt.Sprint(err) {
			t.Errorf("%s: adopted it is %+v, %v", c.name, adopted, again)
		}
	}
}

func FuzzCheckLines(f *testing.F) {
	f.Add([]byte("{\"default_space\":\"a\"}\n{\"space\":\"a\",\"version\":{\"ref\":\"1\"},\"metadata\":[{\"name\":\"x\",\"value\":\"y\"}]}\n"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		l := newListed(artifact.CheckInput{})
		if eachLine(bytes.NewReader(answer), l.checkLine) != nil {
			return
		}
		out := l.checked()
		if found, ok := out.Found(); ok && (found.Version == nil || len(out.Newest) == 0 || !out.Newest[len(out.Newest)-1].Version.Is(found.Version)) {
			t.Errorf("%+v", out)
		}
	})
}

func FuzzConcourse1(f *testing.F) {
	f.Add([]byte(`[{"ref":"1"}]`))
	f.Add([]byte(`{"version":{"ref":"1"},"metadata":[{"name":"x","value":"y"}]}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		l := newListed(artifact.CheckInput{})
		if err := l.readVersions(answer); err == nil {
			_ = l.checked()
		}
		if v, m, err := readMade(answer); err == nil && len(m) > maxFields {
			t.Errorf("%v, %v", v, m)
		}
	})
}
