package config

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

// reads loads manifests where every url has the same outputs, and returns which urls were read.
func reads(t *testing.T, text string) (m *Manifest, urls []string, failed string) {
	t.Helper()
	dir := t.TempDir()
	remote := func(url string, _ *Encryption) (RemoteState, error) {
		urls = append(urls, url)
		if url == "gone" {
			return RemoteState{}, errors.New("it is away")
		}
		return RemoteState{URL: url, Lineage: "l", Serial: 4, Status: "ok", Outputs: map[string]RemoteOutput{
			"a": {Value: json.RawMessage(`"one"`)}, "b": {Value: json.RawMessage(`[1, 2]`)},
			"s": {Value: json.RawMessage(`"hunter2"`), Sensitive: true}}}, nil
	}
	m, diags := Load(sources(dir, text), nil, Builtins{Remote: remote})
	if diags.HasErrors() {
		failed = diags.Error()
	}
	return m, urls, failed
}

// Outputs of another state are known as early as variables, and a plan has no more of them than what is used.
func TestRemoteStates_AreKnownEarly(t *testing.T) {
	t.Parallel()
	m, urls, failed := reads(t, `
variable "env" { default = "prod" }
locals { where = "s3://acme/${var.env}" }
remote_state "net" { url = local.where }
resource "x" {
  for_each = toset([for n in remote_state.net.outputs.b : tostring(n)])
  type     = "acme/x"
  config   = { a = remote_state.net.outputs.a, key = each.key, maybe = try(remote_state.net.outputs.later, null) }
}
`)
	if failed != "" || len(m.Resources()) != 2 || !slices.Equal(urls, []string{"s3://acme/prod"}) {
		t.Fatalf("%s %v %v", failed, m.Resources(), urls)
	}
	if got := string(config(t, m, `x["1"]`, nil).Value); got != `{"a":"one","key":"1","maybe":null}` {
		t.Error(got)
	}
	used := m.Sources().Remote["net"]
	if len(used.Outputs) != 2 || string(used.Outputs["a"].Value) != `"one"` || !slices.Equal(used.Missing, []string{"later"}) || used.Serial != 4 {
		t.Errorf("%+v", used)
	}
	src := m.Sources()
	src.Replay = true
	again, diags := Load(src, nil, Builtins{Remote: func(string, *Encryption) (RemoteState, error) {
		t.Error("the manifest of a plan reads again")
		return RemoteState{}, nil
	}})
	fatal(t, diags)
	if got := string(config(t, again, `x["1"]`, nil).Value); got != `{"a":"one","key":"1","maybe":null}` {
		t.Error(got)
	}
}

// What is sensitive there is sensitive here, also in the manifest of a plan; without it nothing else is hidden.
func TestRemoteStates_StaySensitive(t *testing.T) {
	t.Parallel()
	const text = "remote_state \"net\" { url = \"u\" }\nresource \"x\" {\n  type = \"acme/x\"\n  config = { s = remote_state.net.outputs.s, a = remote_state.net.outputs.a }\n}\n"
	m, _, failed := reads(t, text)
	if failed != "" {
		t.Fatal(failed)
	}
	src := m.Sources()
	src.Replay = true
	again, diags := Load(src, nil, Builtins{})
	fatal(t, diags)
	for _, m := range []*Manifest{m, again} {
		if got := config(t, m, "x", nil); !slices.Equal(got.Sensitive, []string{"/s"}) || !slices.Contains(m.Secrets(), "hunter2") {
			t.Errorf("%+v, %v", got, m.Secrets())
		}
	}
	if _, _, failed := reads(t, "remote_state \"net\" { url = \"u\" }\noutput \"o\" { value = remote_state.net.outputs.s }\n"); !strings.Contains(failed, "would be printed") {
		t.Error(failed)
	}
}

func TestRemoteStates_Refused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`remote_state "n" { url = "gone" }`:                                                                      "it is away",
		`remote_state "n" { url = remote_state.n.outputs.a }`:                                                    "made of its own outputs",
		"remote_state \"n\" { url = resource.x.state.u }\nresource \"x\" { type = \"t\" }\n":                     "Known too late",
		"remote_state \"n\" { url = \"u\" }\noutput \"o\" { value = remote_state.n.outputs.bb }\n":               `publishes no output "bb": there are a, b and s. Did you mean "b"?`,
		"remote_state \"n\" { url = \"u\" }\noutput \"o\" { value = remote_state.n.a }\n":                        "has the attributes outputs",
		"remote_state \"n\" { url = \"u\" }\noutput \"o\" { value = remote_state.m.outputs.a }\n":                "State of another project \"m\" is not declared",
		"variable \"v\" {\n  default = \"hunter2\"\n  sensitive = true\n}\nremote_state \"n\" { url = var.v }\n": "A sensitive value would be printed",
		"deployster {\n  exports { recipients = [\"x\"] }\n}\n":                                                  "Invalid recipients",
		"deployster {\n  exports { recipients = [] }\n}\ndeployster {\n  exports { recipients = [] }\n}\n":       "main.hcl:5: Declared twice: There is already an exports block, at main.hcl:2.",
		"output \"o\" {\n  value = 1\n  export = \"maybe\"\n}\n":                                                 "must be",
		"remote_state \"n\" {\n  backend = \"s3\"\n}\n":                                                          "The url names the other state",
	} {
		if _, _, failed := reads(t, text); !strings.Contains(failed, want) {
			t.Errorf("%s\nsays %q, want %q", text, failed, want)
		}
	}
	if _, diags := loadWith(t, map[string]string{"main.hcl": "module \"m\" { source = \"./m\" }\n",
		"m": "remote_state \"n\" { url = \"u\" }\n"}); !strings.Contains(diags.Error(), "A remote_state in a module") {
		t.Errorf("%v", diags)
	}
}

// Without a reader, as in validate, what follows from other states is unknown, and no error.
func TestRemoteStates_AreUnknownInValidate(t *testing.T) {
	t.Parallel()
	m, diags := loadWith(t, map[string]string{"main.hcl": "remote_state \"n\" { url = \"u\" }\nresource \"x\" {\n  for_each = toset(remote_state.n.outputs.b)\n  type = \"acme/x\"\n}\n" +
		"host \"h\" { address = remote_state.n.outputs.a }\n"})
	if diags.HasErrors() || len(m.Pending()) != 1 || len(m.Sources().Remote) > 0 {
		t.Errorf("%v, %v", diags, m.Pending())
	}
}
