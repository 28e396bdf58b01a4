//go:build providers

package resource

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
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

// randomConfig returns a kind of one of three providers of the legacy type system, with a config.
func randomConfig(r *rand.Rand) (provider, kind string, config map[string]any) {
	config = map[string]any{}
	maybe := func(key string, v any) {
		if r.IntN(2) == 0 {
			config[key] = v
		}
	}
	word := fmt.Sprint("w", r.IntN(100))
	switch r.IntN(6) {
	case 0:
		maybe("length", 1+r.IntN(4))
		maybe("separator", "_")
		maybe("prefix", word)
		maybe("keepers", map[string]any{"k": word})
		return "random", "random_pet", config
	case 1:
		config["length"] = 8 + r.IntN(8)
		maybe("special", r.IntN(2) == 0)
		maybe("override_special", "_%@")
		maybe("min_upper", r.IntN(3))
		return "random", "random_string", config
	case 2:
		config["min"], config["max"] = r.IntN(5), 5+r.IntN(5)
		maybe("seed", word)
		return "random", "random_integer", config
	case 3:
		config["input"] = []any{"a", word}
		maybe("result_count", 1+r.IntN(4))
		return "random", "random_shuffle", config
	case 4:
		maybe("triggers", map[string]any{"a": word, "b": "x"})
		return "null", "null_resource", config
	}
	config["algorithm"] = "ECDSA"
	maybe("ecdsa_curve", []string{"P224", "P256", "P384"}[r.IntN(3)])
	return "tls", "tls_private_key", config
}

// The forecast of the bridge is terraform's plan, for 200 random things of three providers: as they are made,
// and as half of them get another config.
func TestForecast_IsThePlanOfTerraform(t *testing.T) {
	services.Terraform(t)
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	providers := map[string]*Providers{}
	for _, name := range []string{"random", "null", "tls"} {
		providers[name] = first(t, name)
	}
	terraform := terraformWith(t, dir, providers)
	lives, configs := map[string]*life{}, map[string]map[string]any{}
	for i := range 200 {
		provider, kind, config := randomConfig(r)
		addr := fmt.Sprintf("%s.r%d", kind, i)
		lives[addr], configs[addr] = &life{Providers: providers[provider], t: t, kind: kind}, config
	}
	count := map[string]int{}
	for range 2 {
		plan := planOf(t, dir, configs, terraform)
		for _, c := range plan.Changes {
			l, want := lives[c.Address], strings.Join(c.Change.Actions, ",")
			config, err := json.Marshal(configs[c.Address])
			if err != nil {
				t.Fatal(err)
			}
			count[want]++
			if want = strings.TrimSuffix(want, "no-op"); want != "" {
				compareForecast(t, c, l.ask(l.input(string(config))), nil, nil)
			}
			l.apply(l.input(string(config)), want)
		}
		terraform("apply", "tfplan")
		for addr, l := range lives {
			for r.IntN(2) == 0 {
				if _, kind, config := randomConfig(r); kind == l.kind {
					configs[addr] = config
					break
				}
			}
		}
	}
	t.Logf("%v", count)
	if count["create"] != 200 || count["delete,create"] < 20 || count["no-op"] < 20 {
		t.Error("too little was compared")
	}
}

// terraformWith returns a function that runs terraform in a directory, with providers by their names.
func terraformWith(t *testing.T, dir string, providers map[string]*Providers) func(args ...string) []byte {
	t.Helper()
	overrides := ""
	for name, p := range providers {
		into := filepath.Join(dir, "providers", name)
		if err := os.MkdirAll(into, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(p.Path, filepath.Join(into, "terraform-provider-"+name)); err != nil {
			t.Fatal(err)
		}
		overrides += fmt.Sprintf("    %q = %q\n", "hashicorp/"+name, into)
	}
	cli := filepath.Join(dir, "cli.tfrc")
	if err := os.WriteFile(cli, []byte("provider_installation {\n  dev_overrides {\n"+overrides+"  }\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) []byte {
		t.Helper()
		cmd := exec.Command("terraform", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TF_CLI_CONFIG_FILE="+cli, "CHECKPOINT_DISABLE=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("terraform %s: %v: %s", args[0], err, out)
		}
		return out
	}
}

// planOf returns the plan of terraform for configs by address.
func planOf(t *testing.T, dir string, configs map[string]map[string]any, terraform func(...string) []byte) (plan savedPlan) {
	t.Helper()
	resources := map[string]map[string]any{}
	for addr, config := range configs {
		kind, name, _ := strings.Cut(addr, ".")
		if resources[kind] == nil {
			resources[kind] = map[string]any{}
		}
		resources[kind][name] = config
	}
	text, err := json.Marshal(map[string]any{"resource": resources})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "main.tf.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	terraform("plan", "-out=tfplan")
	if err := json.Unmarshal(terraform("show", "-json", "tfplan"), &plan); err != nil {
		t.Fatal(err)
	}
	return plan
}

// compareForecast compares an answer with the change that terraform plans. In whole are the names
// of sets, which are not known where a part is not, and of what is sensitive.
func compareForecast(t *testing.T, c savedChange, a protocol.StateAnswer, sets, secrets []string) {
	t.Helper()
	var known map[string]any
	if len(a.Forecast) == 0 { // nothing is known yet
		a.Forecast, a.MayDiffer = json.RawMessage("{}"), true
	}
	if err := json.Unmarshal(a.Forecast, &known); err != nil || !a.MayDiffer {
		t.Errorf("%s: the forecast is %s, may differ: %t, %v", c.Address, a.Forecast, a.MayDiffer, err)
		return
	}
	var open []string
	for name, unknown := range c.Change.AfterUnknown {
		part := unknownIn(unknown, "/"+name)
		if len(part) > 0 && slices.Contains(sets, name) {
			part = []string{"/" + name}
			delete(c.Change.After, name)
		}
		open = append(open, part...)
	}
	for name, v := range c.Change.After {
		if v != nil && !reflect.DeepEqual(known[name], v) && !slices.Contains(secrets, name) {
			t.Errorf("%s: %s is forecast as %v, and terraform plans %v", c.Address, name, known[name], v)
		}
	}
	for name, v := range known {
		if !reflect.DeepEqual(c.Change.After[name], v) {
			t.Errorf("%s: %s is forecast as %v, and terraform plans %v", c.Address, name, v, c.Change.After[name])
		}
	}
	listed := slices.DeleteFunc(slices.Clone(a.Unknown), func(p string) bool { return slices.Contains(secrets, p[1:]) })
	slices.Sort(open)
	slices.Sort(listed)
	if !slices.Equal(open, listed) {
		t.Errorf("%s: not known are %q, and in the plan of terraform %q", c.Address, listed, open)
	}
}

// unknownIn returns pointers to what is unknown, as terraform marks it: with true.
func unknownIn(marks any, at string) (list []string) {
	switch marks := marks.(type) {
	case bool:
		if marks {
			return []string{at}
		}
	case map[string]any:
		for key, inner := range marks {
			list = append(list, unknownIn(inner, at+"/"+key)...)
		}
	case []any:
		for i, inner := range marks {
			list = append(list, unknownIn(inner, fmt.Sprint(at, "/", i))...)
		}
	}
	return list
}
