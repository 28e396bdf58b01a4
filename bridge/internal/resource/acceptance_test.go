//go:build providers

package resource

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"deployster/internal/testkit/services"
	"deployster/protocol"
)

// saving stands in the place of terraform in the tests of a provider: each plan that is
// applied is saved, with the configuration that it is of.
const saving = `#!/bin/sh
case "$1 $*" in
apply*tfplan*)
	mkdir -p "$SAVED/${PWD##*/}"
	n=$(ls "$SAVED/${PWD##*/}" | wc -l)
	terraform show -json tfplan >"$SAVED/${PWD##*/}/$(printf %03d "$n").json" ;;
esac
exec terraform "$@"
`

// savedChange is what becomes, or became, of one resource.
type savedChange struct {
	Address, Mode, Type string
	Change              struct {
		Actions      []string
		After        map[string]any
		AfterUnknown map[string]any `json:"after_unknown"`
	}
}

// savedPlan is what terraform says of a plan.
type savedPlan struct {
	Changes       []savedChange `json:"resource_changes"`
	Drift         []savedChange `json:"resource_drift"`
	Configuration struct {
		Root struct {
			Resources []struct {
				Address     string
				Expressions map[string]json.RawMessage // lists for blocks
			}
		} `json:"root_module"`
	}
}

// config is what is written of a resource; false where it is of what is not known yet.
func (p *savedPlan) config(address string, after, unknown map[string]any) (map[string]any, bool) {
	out := map[string]any{}
	for _, r := range p.Configuration.Root.Resources {
		if r.Address != address {
			continue
		}
		for name, text := range r.Expressions {
			var e struct {
				Constant   any `json:"constant_value"`
				References []string
			}
			if json.Unmarshal(text, &e) != nil { // a block
				return nil, false
			}
			if out[name] = e.Constant; len(e.References) == 0 {
				continue
			}
			if out[name] = after[name]; unknown[name] != nil {
				return nil, false
			}
		}
	}
	return out, true
}

// The tests of hashicorp/time are run with terraform, and each configuration that they apply,
// step by step, is brought about by the bridge too: the actions are those of terraform's plan,
// and what is written comes true. Those that replace by replace_triggered_by, and that begin
// with an older version from a registry, are left out.
func TestAcceptance_OfTheProviderItself(t *testing.T) {
	services.Terraform(t)
	dir := t.TempDir()
	program, stub, saved := filepath.Join(dir, "tests"), filepath.Join(dir, "terraform"), filepath.Join(dir, "saved")
	cmd := exec.Command("go", "test", "-mod=mod", "-c", "-o", program, "github.com/hashicorp/terraform-provider-time/internal/provider")
	cmd.Dir = "../../testdata/providers/acceptance"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the tests cannot be built: %v: %s", err, out)
	}
	if err := os.WriteFile(stub, []byte(saving), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(program, "-test.run=^TestAcc", "-test.skip=Upgrade|ReplaceTriggeredBy")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TF_ACC=1", "TF_ACC_TERRAFORM_PATH="+stub, "SAVED="+saved, "CHECKPOINT_DISABLE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("its tests fail with terraform: %v: %s", err, out[max(0, len(out)-3000):])
	}
	tests, err := filepath.Glob(filepath.Join(saved, "*"))
	if err != nil {
		t.Fatal(err)
	}
	p := timeProvider(t)
	count := map[string]int{}
	for _, one := range tests {
		things := map[string]*life{}
		steps, err := filepath.Glob(filepath.Join(one, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(steps)
		for _, path := range steps {
			acceptStep(t, p, path, things, count)
		}
	}
	t.Logf("%d tests: %v", len(tests), count)
	if len(tests) < 10 || count["create"] < 10 {
		t.Error("too little was saved")
	}
}

// acceptStep brings about what one plan of terraform does.
func acceptStep(t *testing.T, p *Providers, path string, things map[string]*life, count map[string]int) {
	t.Helper()
	text, err := os.ReadFile(path)
	var plan savedPlan
	if err == nil {
		err = json.Unmarshal(text, &plan)
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", path, err, text)
	}
	for _, c := range plan.Changes {
		if c.Mode != "managed" {
			continue
		}
		if things[c.Address] == nil {
			things[c.Address] = &life{Providers: p, t: t, kind: c.Type}
		}
		l := things[c.Address]
		for _, d := range plan.Drift { // the clock of the tests was put forward: the provider says that it has expired
			if d.Address == c.Address && slices.Equal(d.Change.Actions, []string{"delete"}) {
				l.memory = nil
				count["expired"]++
			}
		}
		want := strings.TrimSuffix(strings.Join(c.Change.Actions, ","), "no-op")
		config, known := plan.config(c.Address, c.Change.After, c.Change.AfterUnknown)
		if !known {
			count["not known"]++
			continue
		}
		written, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		in := l.input(string(written))
		if want == "delete" {
			in.Intent = protocol.Absent
		}
		count[want]++
		var made map[string]any
		answer := l.apply(in, want)
		if len(answer.State) > 0 {
			if err := json.Unmarshal(answer.State, &made); err != nil {
				t.Fatal(err)
			}
		}
		for name := range config { // the others are of another time
			if v := c.Change.After[name]; want != "delete" && !reflect.DeepEqual(made[name], v) {
				t.Errorf("%s: %s of %s is %v, and terraform has %v", path, name, c.Address, made[name], v)
			}
		}
	}
}
