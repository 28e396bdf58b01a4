//go:build providers

package resource

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"deployster/internal/testkit/services"
)

// sdkProvider builds the provider of testdata/providers/sdk.
func sdkProvider(t *testing.T) *Providers {
	t.Helper()
	path := filepath.Join(t.TempDir(), "provider")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = "../../testdata/providers/sdk"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the provider cannot be built: %v: %s", err, out)
	}
	p := &Providers{Path: path}
	t.Cleanup(p.Close)
	return p
}

// randomThing returns a config of the provider. What cannot be changed in place is another one
// seldom, so that most changes are updates.
func randomThing(r *rand.Rand, name string) map[string]any {
	config := map[string]any{"name": name}
	maybe := func(key string, v any) {
		if r.IntN(2) == 0 {
			config[key] = v
		}
	}
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	some := func(n int, make func(i int) any) (list []any) {
		for i := range n {
			list = append(list, make(i))
		}
		return list
	}
	maybe("size", r.IntN(3))
	maybe("ratio", float64(r.IntN(4))/4)
	maybe("on", r.IntN(2) == 0)
	maybe("text", one("word", "Word", "other", ""))
	maybe("lower", one("low", "HIGH", "High"))
	maybe("region", one("north", "south"))
	maybe("secret", one("s1", "s2"))
	maybe("tags", map[string]any{"a": one("x", "y"), one("b", "c"): "z"})
	maybe("zones", some(1+r.IntN(9)/4, func(i int) any { return fmt.Sprint("zone", i) }))
	maybe("order", some(r.IntN(3), func(int) any { return one("p", "q") }))
	maybe("rule", some(r.IntN(3), func(i int) any {
		rule := map[string]any{"port": 80 + i + r.IntN(2)*10}
		if r.IntN(2) == 0 {
			rule["proto"] = one("tcp", "udp")
		}
		return rule
	}))
	maybe("disk", some(1+r.IntN(2), func(int) any {
		disk := map[string]any{"gb": 1 + r.IntN(2)}
		if r.IntN(2) == 0 {
			disk["kind"] = one("ssd", "hdd")
		}
		return disk
	}))
	config["placement"] = []any{map[string]any{"rack": "r1", "note": one("n1", "n2")}}
	if r.IntN(10) == 0 { // another one needs another thing
		config["placement"] = []any{map[string]any{"rack": "r2"}}
	}
	return config
}

// The forecast of the bridge is terraform's plan for 200 random things of a provider made with
// the SDK of most providers, which plans by differences: as they are made, and in two rounds of
// changes, most of them in place.
func TestForecast_OfAProviderOfTheSecondSDK(t *testing.T) {
	services.Terraform(t)
	dir, r := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	p := sdkProvider(t)
	terraform := terraformWith(t, dir, map[string]*Providers{"sdk": p})
	lives, configs := map[string]*life{}, map[string]map[string]any{}
	for i := range 200 {
		addr := fmt.Sprint("sdk_thing.r", i)
		lives[addr], configs[addr] = &life{Providers: p, t: t, kind: "sdk_thing"}, randomThing(r, fmt.Sprint("n", i))
	}
	count := map[string]int{}
	for range 3 {
		plan := planOf(t, dir, configs, terraform)
		for _, c := range plan.Changes {
			l, want := lives[c.Address], strings.Join(c.Change.Actions, ",")
			config, err := json.Marshal(configs[c.Address])
			if err != nil {
				t.Fatal(err)
			}
			count[want]++
			if want = strings.TrimSuffix(want, "no-op"); want != "" {
				compareForecast(t, c, l.ask(l.input(string(config))), []string{"rule", "zones"}, []string{"secret"})
			}
			l.apply(l.input(string(config)), want)
		}
		terraform("apply", "tfplan")
		for i := range 200 {
			if r.IntN(2) == 0 {
				addr := fmt.Sprint("sdk_thing.r", i)
				configs[addr] = randomThing(r, configs[addr]["name"].(string))
			}
		}
	}
	t.Logf("%v", count)
	if count["create"] != 200 || count["update"] < 100 || count["delete,create"] < 10 || count["no-op"] < 100 {
		t.Error("too little was compared")
	}
}

// Of blocks with a value that is not known yet the others are forecast, as terraform plans it.
func TestForecast_OfPartlyKnownBlocks(t *testing.T) {
	services.Terraform(t)
	dir, p := t.TempDir(), sdkProvider(t)
	terraform := terraformWith(t, dir, map[string]*Providers{"sdk": p})
	l := &life{Providers: p, t: t, kind: "sdk_thing"}
	disk := func(kind any) []any {
		return []any{map[string]any{"gb": 1, "kind": "ssd"}, map[string]any{"gb": 2, "kind": kind}}
	}
	plan := planOf(t, dir, map[string]map[string]any{
		"sdk_thing.base": {"name": "base"},
		"sdk_thing.late": {"name": "late", "order": []any{"a", "${sdk_thing.base.stamp}", "c"}, "disk": disk("${sdk_thing.base.stamp}"),
			"zones": []any{"z", "${sdk_thing.base.stamp}"}, "tags": map[string]any{"a": "b", "c": "${sdk_thing.base.stamp}"}},
	}, terraform)
	for _, c := range plan.Changes {
		if c.Address != "sdk_thing.late" {
			continue
		}
		config, err := json.Marshal(map[string]any{"name": "late", "order": []any{"a", nil, "c"}, "disk": disk(nil), "zones": []any{"z", nil},
			"tags": map[string]any{"a": "b", "c": nil}})
		if err != nil {
			t.Fatal(err)
		}
		in := l.input(string(config))
		in.Unknown = []string{"/order/1", "/disk/1/kind", "/zones/1", "/tags/c"}
		a := l.ask(in)
		compareForecast(t, c, a, []string{"rule", "zones"}, nil)
		if !strings.Contains(string(a.Forecast), `"disk":[{"gb":1,"kind":"ssd"},{"gb":2}]`) {
			t.Errorf("the forecast is %s", a.Forecast)
		}
	}
}
