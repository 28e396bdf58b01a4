package testprovider_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deployster/bridge/internal/resource"
	"deployster/bridge/internal/testprovider"
	"deployster/internal/testkit/services"
	"deployster/protocol"
)

// TestMain is the provider too, when it is started by the name of one.
func TestMain(m *testing.M) {
	if strings.HasPrefix(filepath.Base(os.Args[0]), "terraform-provider-") {
		os.Exit(testprovider.Run())
	}
	os.Exit(testprovider.RunTests(m))
}

// object is a JSON object.
type object = map[string]any

// story is one resource, with what is written of it in each step; nil: nothing.
type story struct {
	kind, label string
	steps       []object // as terraform reads them
	bridged     []object // as the bridge does
}

// stories write each kind in each of its ways, and then in another; the last step
// changes nothing. Those of a part are told.
func stories(protocol, part int) (out []story) {
	n := 0
	for _, k := range testprovider.Kinds() {
		if k.Six && protocol == 5 {
			continue
		}
		for i, before := range k.Variants {
			for _, hop := range []int{0, 1, 2, 3} {
				if hop > 0 && hop >= len(k.Variants) {
					continue
				}
				if n++; n%parts != part {
					continue
				}
				after := k.Variants[(i+hop)%len(k.Variants)]
				s := story{kind: k.Name, label: fmt.Sprintf("r%d-%s-%s", n, before.Name, after.Name)}
				if hop == 2 {
					s.label += replaced
				}
				for step, v := range []testprovider.Variant{before, after, after} {
					for _, list := range []*[]object{&s.steps, &s.bridged} {
						config := object{"label": s.label}
						if !v.Absent {
							config["thing"] = v.Written
						}
						if list == &s.bridged && v.ForBridge != nil {
							config["thing"] = v.ForBridge
						}
						if hop == 2 && step > 0 {
							config["anchor"] = "moved" // it is made anew
						}
						*list = append(*list, config)
					}
				}
				out = append(out, s)
			}
		}
	}
	return out
}

// newer is the version of the schemas that are not those of what is remembered.
const newer = "3"

// replaced ends the labels of what is made anew.
const replaced = "-replaced"

// bench is where the provider and the records lie.
type bench struct {
	t              *testing.T
	dir, terraform string
}

func newBench(t *testing.T, protocol int) *bench {
	b := &bench{t: t, terraform: services.Terraform(t), dir: t.TempDir()}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(b.dir, "terraform-provider-test"))
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(b.dir, "work"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(b.dir, "rc"), []byte(`provider_installation {
  dev_overrides { "example.com/test/test" = "`+b.dir+`" }
}
disable_checkpoint = true`), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEST_PROTOCOL", fmt.Sprint(protocol))
	t.Setenv("TF_DISABLE_PLUGIN_TLS", "1")
	t.Setenv("TF_CLI_CONFIG_FILE", filepath.Join(b.dir, "rc"))
	return b
}

// recorded runs something, and gives the requests that the provider has written down.
func (b *bench) recorded(do func()) map[string][]string {
	b.t.Helper()
	path := filepath.Join(b.dir, "record")
	b.t.Setenv("TEST_RECORD", path)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		b.t.Fatal(err)
	}
	do()
	text, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	out, err := testprovider.ReadRecord(text)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// apply has terraform apply a configuration.
func (b *bench) apply(config object, fails bool, args ...string) {
	b.t.Helper()
	config["terraform"] = object{"required_providers": object{"test": object{"source": "example.com/test/test"}}}
	text, err := json.Marshal(config)
	if err == nil {
		err = os.WriteFile(filepath.Join(b.dir, "work", "main.tf.json"), text, 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command(b.terraform, append([]string{"apply", "-auto-approve", "-no-color", "-input=false"}, args...)...)
	cmd.Dir = filepath.Join(b.dir, "work")
	if out, err := cmd.CombinedOutput(); (err != nil) != fails {
		b.t.Fatalf("terraform: %v: %s", err, out[max(0, len(out)-4000):])
	}
}

// things are the resources of one state, in the bridge.
type things struct {
	*resource.Providers
	t      *testing.T
	memory map[string]json.RawMessage
}

func (b *bench) things(memory map[string]json.RawMessage) *things {
	out := &things{Providers: &resource.Providers{Path: filepath.Join(b.dir, "terraform-provider-test")}, t: b.t, memory: memory}
	b.t.Cleanup(out.Close)
	return out
}

// bring makes one resource what is written of it, as deployster does; nil: it is removed.
func (a *things) bring(kind, label string, config object, provider any) (failed error) {
	a.t.Helper()
	in := protocol.StateInput{InitInput: protocol.InitInput{Name: "a", Type: "test#" + kind}, Intent: protocol.Present, Memory: a.memory[label]}
	var err error
	if config == nil {
		in.Intent, config = protocol.Absent, object{"label": label}
	}
	if config = maps.Clone(config); provider != nil {
		config["provider"] = provider
	}
	if in.Config, err = json.Marshal(config); err != nil {
		a.t.Fatal(err)
	}
	answer, err := a.State(a.t.Context(), in, io.Discard)
	if err != nil {
		return err
	}
	if answer.Memory != nil {
		in.Memory = answer.Memory
	}
	for _, action := range answer.Actions {
		digest := append(action.Args, "")[1]
		said, err := a.Act(a.t.Context(), protocol.ActionInput{StateInput: in, Action: action.Name}, action.Name, digest, io.Discard)
		if in.Memory = said; string(said) == "null" {
			in.Memory = nil
		}
		if err != nil {
			failed = err
			break
		}
	}
	a.memory[label] = in.Memory
	return failed
}

// compare says where two records differ.
func compare(t *testing.T, step string, terraform, bridge map[string][]string) {
	t.Helper()
	keys := map[string]bool{}
	for _, m := range []map[string][]string{terraform, bridge} {
		for key := range m {
			keys[key] = true
		}
	}
	shown := 0
	for key := range keys {
		if strings.HasSuffix(key, " UpgradeResourceState") {
			terraform[key] = withoutUpgraded(terraform[key])
		}
		if strings.HasSuffix(key, replaced+" ApplyResourceChange") {
			terraform[key], bridge[key] = withoutPrivate(terraform[key]), withoutPrivate(bridge[key])
		}
		if slices.Equal(terraform[key], bridge[key]) {
			continue
		}
		if shown++; shown <= 4 {
			t.Errorf("%s: %s\n  terraform:%s\n  bridge:%s", step, key, strings.Join(terraform[key], "\n  and"), strings.Join(bridge[key], "\n  and"))
		}
	}
	if shown > 0 {
		t.Errorf("%s: %d of %d requests differ", step, shown, len(keys))
	}
	t.Logf("%s: %d requests are compared", step, len(keys))
}

// written is a configuration with what is written of all resources in a step.
func written(list []story, step int) object {
	resources := object{}
	for _, s := range list {
		if step >= len(s.steps) {
			continue
		}
		if resources[s.kind] == nil {
			resources[s.kind] = object{}
		}
		resources[s.kind].(object)[s.label] = s.steps[step]
	}
	if len(resources) == 0 {
		return object{}
	}
	return object{"resource": resources}
}

// withoutUpgraded are requests without those to upgrade what terraform has upgraded
// already, and keeps as it is from its plan to its apply.
func withoutUpgraded(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(said string) bool {
		return len(list) > 1 && strings.HasSuffix(said, "version: "+newer)
	})
}

// withoutPrivate are requests without what the provider has said for itself, where
// something is removed to be made anew: terraform hands on what was said when the new one
// was planned, and the bridge what was said of the old one.
func withoutPrivate(list []string) (out []string) {
	for _, said := range list {
		if strings.Contains(said, "planned: null") {
			said, _, _ = strings.Cut(said, "\n    private:")
		}
		out = append(out, said)
	}
	return out
}

// parts is in how many parts the stories are told, each with a state of its own.
const parts = 120

// told is how many of the parts are told: DEPLOYSTER_BRIDGE_PARTS, or one.
func told(t *testing.T) int {
	text := os.Getenv("DEPLOYSTER_BRIDGE_PARTS")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > parts {
		t.Fatalf("DEPLOYSTER_BRIDGE_PARTS is %q, and must be a number from 1 to %d", text, parts)
	}
	return n
}

// What the provider is asked is what terraform asks it: each way to write each kind, and
// then another, and then the same once more; last, none.
func TestJudge_QueriesAsTerraform(t *testing.T) {
	for part := range told(t) {
		for _, version := range []int{5, 6} {
			t.Run(fmt.Sprintf("protocol %d, part %d", version, part), func(t *testing.T) {
				b := newBench(t, version)
				t.Setenv("TEST_PLAN_DESTROY", map[int]string{6: "1"}[version])
				b.tell(stories(version, part))
			})
		}
	}
}

// tell has stories told by terraform and by the bridge, and compares what was asked.
func (b *bench) tell(list []story) {
	memory := map[string]json.RawMessage{}
	for step := range 4 {
		if step == 2 {
			b.t.Setenv("TEST_VERSION", newer) // the schemas are newer than what is remembered
		}
		asked := b.recorded(func() { b.apply(written(list, step), false) })
		said := b.recorded(func() {
			a := b.things(memory)
			defer a.Close()
			for _, s := range list {
				var config object
				if step < len(s.bridged) {
					config = s.bridged[step]
				}
				if err := a.bring(s.kind, s.label, config, nil); err != nil {
					b.t.Errorf("%s %s: %v", s.kind, s.label, err)
				}
			}
		})
		compare(b.t, fmt.Sprint("step ", step), asked, said)
	}
	if len(list) < 20 {
		b.t.Errorf("only %d stories were told", len(list))
	}
}

// The config of the provider, a data source, an adoption by id, and things of which the
// making has failed: what is asked is what terraform asks.
func TestJudge_ProvidersDataImportsAndFailures(t *testing.T) {
	for _, version := range []int{5, 6} {
		t.Run(fmt.Sprint("protocol ", version), func(t *testing.T) {
			b := newBench(t, version)
			memory := map[string]json.RawMessage{}
			provider := object{"region": "r", "token": "secret", "endpoint": []any{object{"url": "u"}, object{}}}
			data, adopted := object{"label": "looked-up"}, object{"label": "adopted", "thing": "x"}
			half, never := object{"label": testprovider.Half + "made" + replaced}, object{"label": testprovider.Nothing + "made"}
			vague := object{"label": testprovider.Vague + "made" + replaced}
			for step := range 3 {
				config := object{"provider": object{"test": provider}, "data": object{testprovider.Data: object{"looked-up": data}},
					"import":   []any{object{"to": "test_text_optional.adopted", "id": "adopted"}},
					"resource": object{"test_text_optional": object{"adopted": adopted}, "test_text_both": object{"half": half, "never": never, "vague": vague}}}
				if step > 0 {
					delete(config, "import")
				}
				if step == 2 {
					delete(config, "resource")
				}
				asked := b.recorded(func() { b.apply(config, step < 2, "-parallelism=1") })
				said := b.recorded(func() {
					a := b.things(memory)
					defer a.Close()
					bring := func(kind, label string, config object, fails bool) {
						with := maps.Clone(config)
						if step == 0 && label == "adopted" {
							with["import"] = label
						}
						if step == 2 && !strings.HasPrefix(kind, "data.") {
							with = nil
						}
						if err := a.bring(kind, label, with, provider); (err != nil) != (fails && step < 2) {
							t.Errorf("step %d: %s: %v", step, label, err)
						}
					}
					bring("data."+testprovider.Data, "looked-up", data, false)
					bring("test_text_optional", "adopted", adopted, false)
					bring("test_text_both", half["label"].(string), half, true)
					bring("test_text_both", never["label"].(string), never, true)
					bring("test_text_both", vague["label"].(string), vague, true)
				})
				if step == 0 { // terraform writes down what it imports, and reads it again
					delete(asked, "test_text_optional adopted UpgradeResourceState")
				}
				compare(t, fmt.Sprint("step ", step), asked, said)
			}
		})
	}
}
